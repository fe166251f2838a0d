#![no_main]

dissensus_fuzz::target!("peerannot", json);
