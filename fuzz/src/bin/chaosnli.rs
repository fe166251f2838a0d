#![no_main]

dissensus_fuzz::target!("chaosnli", json);
