//! ResNet-18 with a CIFAR stem in Burn on the CPU: seconds of a training step, as one line of JSON.
//!
//!     cargo run --release -- [STEPS] [WARM_UP] [WIDTH] [BATCH]
//!
//! Threads are rayon's: `RAYON_NUM_THREADS=2`.

use std::time::Instant;

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::optim::momentum::MomentumConfig;
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Distribution, Int, Tensor};

#[derive(Module, Debug)]
struct ConvNorm {
    conv: Conv2d,
    norm: BatchNorm,
}

impl ConvNorm {
    fn new(ins: usize, outs: usize, kernel: usize, stride: usize, device: &Device) -> Self {
        let side = kernel / 2;
        let conv = Conv2dConfig::new([ins, outs], [kernel, kernel])
            .with_stride([stride, stride])
            .with_padding(PaddingConfig2d::Explicit(side, side, side, side))
            .with_bias(false)
            .init(device);
        Self { conv, norm: BatchNormConfig::new(outs).init(device) }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        self.norm.forward(self.conv.forward(x))
    }
}

#[derive(Module, Debug)]
struct Block {
    first: ConvNorm,
    second: ConvNorm,
    shortcut: Option<ConvNorm>,
}

impl Block {
    fn new(ins: usize, outs: usize, stride: usize, device: &Device) -> Self {
        Self {
            first: ConvNorm::new(ins, outs, 3, stride, device),
            second: ConvNorm::new(outs, outs, 3, 1, device),
            shortcut: (stride != 1).then(|| ConvNorm::new(ins, outs, 1, stride, device)),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let inner = self.second.forward(relu(self.first.forward(x.clone())));
        let way = match &self.shortcut {
            Some(shortcut) => shortcut.forward(x),
            None => x,
        };
        relu(inner + way)
    }
}

#[derive(Module, Debug)]
struct ResNet18 {
    stem: ConvNorm,
    blocks: Vec<Block>,
    head: Linear,
}

impl ResNet18 {
    fn new(width: usize, classes: usize, device: &Device) -> Self {
        let mut blocks = Vec::new();
        let mut ins = width;
        for stage in 0..4 {
            let outs = width << stage;
            blocks.push(Block::new(ins, outs, if stage == 0 { 1 } else { 2 }, device));
            blocks.push(Block::new(outs, outs, 1, device));
            ins = outs;
        }
        let stem = ConvNorm::new(3, width, 3, 1, device);
        Self { stem, blocks, head: LinearConfig::new(ins, classes).init(device) }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let mut x = relu(self.stem.forward(x));
        for block in &self.blocks {
            x = block.forward(x);
        }
        let [batch, channels, height, width] = x.dims();
        let pooled = x.reshape([batch, channels, height * width]).mean_dim(2);
        self.head.forward(pooled.reshape([batch, channels]))
    }
}

/// The largest memory of this process in MiB, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let mut next = |default| numbers.next().unwrap_or(default);
    let (steps, warm_up, width, batch) = (next(3), next(1), next(64), next(64));

    let device = Device::flex().autodiff();
    device.seed(0);
    let images = Tensor::<4>::random([batch, 3, 32, 32], Distribution::Normal(0.0, 1.0), &device);
    let labels: Vec<i64> = (0..batch as i64).map(|i| i % 10).collect();
    let labels = Tensor::<1, Int>::from_data(labels.as_slice(), &device);

    let mut model = ResNet18::new(width, 10, &device);
    let loss = CrossEntropyLossConfig::new().init(&device);
    let momentum = MomentumConfig { momentum: 0.9, dampening: 0.0, nesterov: false };
    let mut optimizer = SgdConfig::new().with_momentum(Some(momentum)).init();

    let mut seconds = Vec::new();
    let mut last = 0.0;
    for step in 0..warm_up + steps {
        let start = Instant::now();
        let value = loss.forward(model.forward(images.clone()), labels.clone());
        last = value.clone().into_scalar::<f32>();
        let gradients = GradientsParams::from_grads(value.backward(), &model);
        model = optimizer.step(0.01, model, gradients);
        if step >= warm_up {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let line = serde_json::json!({
        "what": "resnet18", "peer": "burn 0.22.1 flex", "width": width, "batch": batch,
        "parameters": model.num_params(), "threads": std::env::var("RAYON_NUM_THREADS").ok(),
        "seconds": best, "all_seconds": seconds, "images_per_second": batch as f64 / best,
        "memory_mib": peak_mib(), "loss": last,
    });
    println!("{line}");
}
