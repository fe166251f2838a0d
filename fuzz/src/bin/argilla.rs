#![no_main]

dissensus_fuzz::target!("argilla", json);
