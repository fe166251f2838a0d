#![no_main]

dissensus_fuzz::target!("array");
