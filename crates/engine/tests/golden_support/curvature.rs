//! Hessian-vector products of small nets (`reference/engine/curvature.py`), with the loss and the
//! gradient that belong to them.

use dissensus_engine::device::Targets;
use dissensus_engine::{Mode, Real, Runner, State};

use super::{Golden, PLAIN, network, nothing, runner, same, vectors};

/// By way of a data set.
pub(crate) fn mlp<F: Real>(golden: &Golden) {
    let (input, target) = (golden.tensor("input"), golden.tensor("target"));
    let network = network(input.example(), |b| {
        let x = b.linear("0", 0, golden.tensor("params/0.bias").shape[0]);
        let x = b.gelu(x);
        b.linear("1", x, target.shape[1]);
    });
    let parameters = golden.vector(&network, "params", same);
    let mut runner = runner::<F>(&network, &vectors(input), input.shape[0], PLAIN, parameters);
    let rows: Vec<u32> = (0..input.shape[0] as u32).collect();
    let table: Vec<f32> = target.values.iter().map(|&p| p as f32).collect();
    let targets = Targets::Distributions(&table);

    golden.assert_near("output", &runner.logits(&rows).unwrap());
    let (loss, gradient) = runner.mean_gradient(&rows, targets, Mode::Eval).unwrap();
    golden.assert_near("loss", &[F::of(loss)]);
    golden.assert_all_near("grads", &network.export(&gradient), same);
    let direction = golden.vector(&network, "v", same);
    let product = runner.product(&rows, targets, Mode::Eval, &direction).unwrap();
    golden.assert_all_near("hv", &network.export(&product), same);
}

/// Batch norm with the batch's own statistics, or with running ones.
pub(crate) fn conv_bn<F: Real>(golden: &Golden) {
    let (input, train) = (golden.tensor("input"), golden.setting("train").as_bool().unwrap());
    let channels = golden.tensor("params/bn.bias").shape[0];
    let classes = golden.tensor("params/fc.bias").shape[0];
    let network = network(input.example(), |b| {
        let x = b.conv("conv", 0, channels, 3, 1);
        let x = b.batch_norm("bn", x);
        let x = b.relu(x);
        let x = b.pool(x);
        b.linear("fc", x, classes);
    });
    let parameters = golden.vector(&network, "params", same);
    let mut runner =
        runner::<F>(&network, &nothing(network.input()), input.shape[0], PLAIN, parameters);
    let mode = if train { Mode::Train } else { Mode::Eval };
    if !train {
        let statistics = golden.statistics(&network, "buffers", same);
        runner.restore(State { statistics, ..runner.current().clone() }).unwrap();
    }
    let (input, targets) = (input.ours(), golden.tensor("target").targets(classes));
    let (loss, found) = runner.loss_at(&input, &targets, mode).unwrap();
    golden.assert_near("output", &found.outputs);
    golden.assert_near("loss", &[F::of(loss)]);
    golden.assert_all_near("grads", &network.export(&found.parameter_gradient), same);
    let direction = golden.vector(&network, "v", same);
    let product = runner.product_at(&input, &targets, mode, &direction).unwrap();
    golden.assert_all_near("hv", &network.export(&product), same);
}
