#![no_main]

dissensus_fuzz::target!("lewidi-2023", json);
