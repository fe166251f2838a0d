#![no_main]

dissensus_fuzz::target!("prodigy", json);
