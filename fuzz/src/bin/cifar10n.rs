#![no_main]

dissensus_fuzz::target!("cifar10n");
