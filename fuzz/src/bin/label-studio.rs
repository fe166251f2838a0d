#![no_main]

dissensus_fuzz::target!("label-studio", json);
