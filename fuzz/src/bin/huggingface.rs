#![no_main]

dissensus_fuzz::target!("huggingface", json);
