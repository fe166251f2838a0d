#![no_main]

dissensus_fuzz::target!("lewidi-2025", json);
