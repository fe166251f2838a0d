//! Which of cuDNN's ways to do a pass of a convolution is taken.
//!
//! cuDNN lists engines with their settings, likely ones first. The first that will do is taken; but
//! for the batch that a run trains with, all are timed and the fastest is. What was chosen is known
//! by its place in cuDNN's list, and stays: it can be asked for as text, kept, and given back, so
//! that a run has the same bits tomorrow. Choices for GPUs that were at hand come with the program.
//!
//! A GPU is shared by several runs unless it is opened for one alone, and the two are timed for
//! what they are. It is a choice by name, not by what happens to run beside a run, which must not
//! change its numbers.
//!
//! Engines that give other bits each time are never taken, nor in f32 any that round their inputs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::cudnn::sys as c;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};

use super::super::launch::Pointer;
use super::super::runner::act_size;
use super::super::{driver, zeros};
use super::{Conv, Descriptor, Graph, Handle, Kind, Name, Pass, Plan, Shapes, What};
use crate::device::Precision;
use crate::error::EngineError;

/// More memory than this is not given to a plan.
const MOST: usize = 512 << 20;
/// Products of numbers under which a pass is not worth timing.
const WORTH: usize = 100_000_000;
/// How many of a plan are timed at a time for a GPU that several runs share. What is fastest alone
/// takes the whole GPU; of what takes less of it, several do more together.
const SHARED: usize = 3;
/// Runs of a plan when all are timed, and of the nearly best when they are timed again.
const RUNS: [usize; 2] = [3, 12];
/// How many are timed again.
const FINAL: usize = 5;
/// One that takes so many times the best's time at first is not timed on.
const HOPELESS: f32 = 1.6;
/// An earlier one is preferred to one that is faster by less than this.
const NEARLY: f32 = 1.01;

/// Choices that come with the program, as [`Plans::text`] wrote them.
const KNOWN: &[&str] = &[include_str!("known/h200.txt"), include_str!("known/h200-alone.txt")];

/// A pass of a convolution.
type Key = (Shapes, Precision, Pass, bool);

/// A place in one of cuDNN's lists, and the engine that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    list: usize,
    place: usize,
    engine: i64,
}

/// What was chosen on one GPU.
pub(in super::super) struct Plans {
    /// The GPU, what it is chosen for, and the version of cuDNN.
    gpu: String,
    /// How many of a plan are timed at a time.
    streams: usize,
    chosen: Mutex<Chosen>,
}

#[derive(Debug, Default, PartialEq)]
struct Chosen {
    engines: BTreeMap<Sorted, Choice>,
    /// How many times as fast training is with kernels of ours as with cuDNN's, by their names.
    ours: BTreeMap<String, f64>,
    /// Whether there is something new since it was last asked for.
    new: bool,
}

/// The beginning of the lines of [`Chosen::ours`].
const OURS: &str = "ours ";

/// A key that can be sorted.
type Sorted = (Shapes, u8, Pass, bool);

fn sorted((shapes, precision, pass, add): Key) -> Sorted {
    (shapes, precision as u8, pass, add)
}

/// cuDNN's lists, the better one first.
const LISTS: [c::cudnnBackendHeurMode_t; 3] = [
    c::cudnnBackendHeurMode_t::CUDNN_HEUR_MODE_A,
    c::cudnnBackendHeurMode_t::CUDNN_HEUR_MODE_B,
    c::cudnnBackendHeurMode_t::CUDNN_HEUR_MODE_FALLBACK,
];

/// The engines of a list, with their settings.
fn list(graph: &Graph, list: usize) -> Vec<Descriptor> {
    let found = || {
        let mode = Kind::CUDNN_TYPE_HEUR_MODE;
        Descriptor::new(What::CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)?
            .refer(Name::CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, &graph.graph)?
            .set(Name::CUDNN_ATTR_ENGINEHEUR_MODE, mode, &[LISTS[list]])?
            .finished("list")?
            .descriptors(
                Name::CUDNN_ATTR_ENGINEHEUR_RESULTS,
                What::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                false,
            )
    };
    // A list may be missing; what counts is whether any has something.
    found().unwrap_or_default()
}

/// The number of the engine, where it may be used; `compiled`: though it is compiled first, which
/// takes its time.
fn engine(
    config: &Descriptor,
    precision: Precision,
    compiled: bool,
) -> Result<Option<i64>, EngineError> {
    use c::cudnnBackendBehaviorNote_t as Behaviour;
    use c::cudnnBackendNumericalNote_t as Note;
    let (name, what) = (Name::CUDNN_ATTR_ENGINECFG_ENGINE, What::CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    let engines = config.descriptors(name, what, true)?;
    let Some(engine) = engines.first() else { return Ok(None) };
    // Numbers rather than names: there may be notes that this program does not know.
    let (name, kind) = (Name::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, Kind::CUDNN_TYPE_NUMERICAL_NOTE);
    let notes: Vec<u32> = engine.get(name, kind, u32::MAX)?;
    let (name, kind) = (Name::CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, Kind::CUDNN_TYPE_BEHAVIOR_NOTE);
    let behaviour: Vec<u32> = engine.get(name, kind, u32::MAX)?;
    let never = [
        Note::CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
        Note::CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
        Note::CUDNN_NUMERICAL_NOTE_FFT,
    ];
    let rounding =
        [Note::CUDNN_NUMERICAL_NOTE_TENSOR_CORE, Note::CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS];
    let has = |notes_of: &[Note]| notes_of.iter().any(|&note| notes.contains(&(note as u32)));
    let compiles = behaviour.contains(&(Behaviour::CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION as u32));
    if has(&never) || (precision == Precision::F32 && has(&rounding)) || (compiles && !compiled) {
        return Ok(None);
    }
    engine.number(Name::CUDNN_ATTR_ENGINE_GLOBAL_INDEX).map(Some)
}

/// A plan of this choice, where it still is one.
fn planned(handle: &Handle, graph: &Graph, precision: Precision, choice: Choice) -> Option<Plan> {
    let config = list(graph, choice.list).into_iter().nth(choice.place)?;
    let fits = engine(&config, precision, true).ok()? == Some(choice.engine);
    let plan = Plan::new(handle, config).ok()?;
    (fits && plan.workspace <= MOST).then_some(plan)
}

/// Every plan that may be used, in cuDNN's order.
fn candidates<'a>(
    handle: &'a Handle,
    graph: &'a Graph,
    precision: Precision,
    lists: &'a [usize],
    compiled: bool,
) -> impl Iterator<Item = (Choice, Plan)> + 'a {
    lists.iter().flat_map(move |&number| {
        list(graph, number).into_iter().enumerate().filter_map(move |(place, config)| {
            let engine = engine(&config, precision, compiled).ok()??;
            let plan = Plan::new(handle, config).ok()?;
            let choice = Choice { list: number, place, engine };
            (plan.workspace <= MOST).then_some((choice, plan))
        })
    })
}

/// Where plans are made and timed.
pub(in super::super) struct Place<'a> {
    pub(in super::super) handle: &'a Handle,
    pub(in super::super) context: &'a Arc<CudaContext>,
}

/// What plans are timed on: streams, each with made-up numbers and a workspace of its own, since plans
/// may wait for each other by what is in it.
struct Trial {
    lanes: Vec<TrialLane>,
}

struct TrialLane {
    stream: Arc<CudaStream>,
    handle: Handle,
    at: [Pointer; 3],
    space: Pointer,
    _memory: Vec<CudaSlice<u8>>,
}

impl TrialLane {
    fn new(context: &Arc<CudaContext>, sizes: [usize; 4]) -> Result<Self, EngineError> {
        let stream = context.new_stream().map_err(driver)?;
        let handle = Handle::new(stream.cu_stream())?;
        let memory =
            sizes.into_iter().map(|bytes| zeros(&stream, bytes)).collect::<Result<Vec<_>, _>>()?;
        let at = |n: usize| memory[n].device_ptr(&stream).0;
        let (at, space) = ([at(0), at(1), at(2)], at(3));
        stream.synchronize().map_err(driver)?;
        Ok(Self { stream, handle, at, space, _memory: memory })
    }
}

impl Trial {
    fn new(
        place: &Place<'_>,
        shapes: Shapes,
        precision: Precision,
        workspace: usize,
        streams: usize,
    ) -> Result<Self, EngineError> {
        let [x, y, w] = shapes.sizes().map(|numbers| act_size(precision) * numbers);
        let lane = |_| TrialLane::new(place.context, [x, y, w, workspace]);
        Ok(Self { lanes: (0..streams).map(lane).collect::<Result<_, _>>()? })
    }

    /// Milliseconds of a run, over as many on every stream; `None` where it does not work.
    fn time(&self, plan: &Plan, runs: usize) -> Option<f32> {
        let own = &self.lanes.first()?.stream;
        let start = own.record_event(Some(CU_EVENT_DEFAULT)).ok()?;
        for lane in &self.lanes[1..] {
            lane.stream.wait(&start).ok()?;
        }
        for _ in 0..runs {
            for lane in &self.lanes {
                plan.run(&lane.handle, lane.at, lane.space).ok()?;
            }
        }
        for lane in &self.lanes[1..] {
            own.wait(&lane.stream.record_event(None).ok()?).ok()?;
        }
        let end = own.record_event(Some(CU_EVENT_DEFAULT)).ok()?;
        Some(start.elapsed_ms(&end).ok()? / (runs * self.lanes.len()) as f32)
    }
}

impl Place<'_> {
    /// The fastest plan, of so many at a time.
    fn fastest(
        &self,
        graph: &Graph,
        shapes: Shapes,
        precision: Precision,
        streams: usize,
    ) -> Result<Option<(Choice, Plan)>, EngineError> {
        let mut all: Vec<_> = candidates(self.handle, graph, precision, &[0, 1], false).collect();
        if all.is_empty() {
            all.extend(candidates(self.handle, graph, precision, &[2], false));
        }
        let most = all.iter().map(|(_, plan)| plan.workspace).max().unwrap_or(0);
        let trial = Trial::new(self, shapes, precision, most, streams)?;
        let (mut timed, mut best) = (Vec::new(), f32::INFINITY);
        for (order, (choice, plan)) in all.into_iter().enumerate() {
            // The first run may load something.
            let first = trial.time(&plan, 1).and_then(|_| trial.time(&plan, 1));
            let Some(first) = first.filter(|&first| first < HOPELESS * best) else { continue };
            let time = trial.time(&plan, RUNS[0]).unwrap_or(first);
            best = best.min(time);
            timed.push((time, order, choice, plan));
        }
        timed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        timed.truncate(FINAL);
        for (time, _, _, plan) in &mut timed {
            let again = || trial.time(plan, RUNS[1]);
            *time = [again(), again()].into_iter().flatten().fold(f32::INFINITY, f32::min);
        }
        let best = timed.iter().map(|entry| entry.0).fold(f32::INFINITY, f32::min);
        timed.retain(|entry| entry.0 <= best * NEARLY);
        timed.sort_by_key(|entry| entry.1);
        Ok(timed.into_iter().next().map(|(_, _, choice, plan)| (choice, plan)))
    }
}

impl Plans {
    /// For a GPU, which several runs share, or on which there is one at a time.
    pub(in super::super) fn new(gpu: &str, shared: bool) -> Self {
        // SAFETY: a plain call.
        let version = unsafe { c::cudnnGetVersion() };
        let (gpu, streams) = (format!("{gpu}, cuDNN {version}"), if shared { SHARED } else { 1 });
        let plans = Self { gpu, streams, chosen: Mutex::default() };
        for text in KNOWN {
            plans.take(text);
        }
        plans
    }

    /// What was chosen, where something was since it was last asked for.
    pub(in super::super) fn text(&self) -> Option<String> {
        let mut chosen = self.chosen();
        if !std::mem::take(&mut chosen.new) {
            return None;
        }
        let mut text = format!("{}\n", self.gpu);
        for (name, times) in &chosen.ours {
            let _ = writeln!(text, "{OURS}{name}: {times:.3}");
        }
        for (&(s, precision, pass, add), choice) in &chosen.engines {
            let sizes = [s.count, s.height, s.width, s.inputs, s.outputs, s.kernel, s.stride];
            for size in sizes {
                let _ = write!(text, "{size} ");
            }
            let (pass, add) = (pass.name(), u8::from(add));
            let Choice { list, place, engine } = choice;
            let _ = writeln!(text, "{precision} {pass} {add}: {list} {place} {engine}");
        }
        Some(text)
    }

    /// Takes what another process chose on this GPU; anything else is left alone.
    pub(in super::super) fn take(&self, text: &str) {
        let mut lines = text.lines();
        if lines.next() != Some(&self.gpu) {
            return;
        }
        let mut chosen = self.chosen();
        for line in lines {
            if let Some((key, choice)) = parsed(line) {
                chosen.engines.entry(key).or_insert(choice);
            } else if let Some((name, times)) = parsed_of_ours(line) {
                chosen.ours.entry(name.to_owned()).or_insert(times);
            }
        }
    }

    /// How many times as fast training is with these kernels of ours, where that is known of all.
    pub(in super::super) fn ours<const N: usize>(&self, names: [&str; N]) -> Option<[f64; N]> {
        let chosen = self.chosen();
        let known = names.map(|name| chosen.ours.get(name).copied());
        known.iter().all(Option::is_some).then(|| known.map(Option::unwrap_or_default))
    }

    pub(in super::super) fn remember_ours(&self, name: &str, times: f64) {
        let mut chosen = self.chosen();
        chosen.ours.insert(name.to_owned(), times);
        chosen.new = true;
    }

    fn chosen(&self) -> MutexGuard<'_, Chosen> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A convolution; `often`: it will be run many times, so find out which way is fastest.
    pub(in super::super) fn conv(
        &self,
        place: &Place<'_>,
        shapes: Shapes,
        precision: Precision,
        often: bool,
    ) -> Result<Conv, EngineError> {
        let tune = often && shapes.products() >= WORTH;
        let plan = |pass, add| self.plan(place, (shapes, precision, pass, add), tune);
        let both = |pass| Ok::<_, EngineError>([plan(pass, false)?, plan(pass, true)?]);
        let [forward, backward, weights] = Pass::ALL;
        let plans = [both(forward)?, both(backward)?, both(weights)?];
        let workspace = plans.iter().flatten().map(|plan| plan.workspace).max().unwrap_or(0);
        Ok(Conv { plans, often, workspace })
    }

    fn plan(&self, place: &Place<'_>, key: Key, tune: bool) -> Result<Plan, EngineError> {
        let (shapes, precision, pass, add) = key;
        let graph = Graph::new(place.handle, shapes, precision, pass, add)?;
        // Held while plans are timed: one run at a time does that, and the others take its choice.
        let mut chosen = self.chosen();
        if let Some(&choice) = chosen.engines.get(&sorted(key))
            && let Some(plan) = planned(place.handle, &graph, precision, choice)
        {
            return Ok(plan);
        }
        // What adds to what is there comes up once in a step if at all, but for gradients of inputs.
        if tune
            && (!add || pass == Pass::Backward)
            && let Some((choice, plan)) = place.fastest(&graph, shapes, precision, self.streams)?
        {
            chosen.engines.insert(sorted(key), choice);
            chosen.new = true;
            return Ok(plan);
        }
        let (quick, slow) = ([0, 1, 2], [2]);
        let first = candidates(place.handle, &graph, precision, &quick, false)
            .chain(candidates(place.handle, &graph, precision, &slow, true))
            .next();
        first.map(|(_, plan)| plan).ok_or_else(|| {
            let pass = pass.name();
            EngineError::Device(format!("cuDNN has no deterministic {pass} pass of {shapes:?}"))
        })
    }
}

/// A line of [`Plans::text`] of kernels of ours.
fn parsed_of_ours(line: &str) -> Option<(&str, f64)> {
    let (name, times) = line.strip_prefix(OURS)?.split_once(": ")?;
    Some((name, times.parse().ok().filter(|times: &f64| times.is_finite())?))
}

/// A line of [`Plans::text`] of cuDNN's engines.
fn parsed(line: &str) -> Option<(Sorted, Choice)> {
    let (key, choice) = line.split_once(": ")?;
    let words: Vec<&str> = key.split(' ').collect();
    let [sizes @ .., precision, pass, add] = &words[..] else { return None };
    let sizes: Vec<usize> = sizes.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let [count, height, width, inputs, outputs, kernel, stride] = sizes[..] else { return None };
    let shapes = Shapes { count, height, width, inputs, outputs, kernel, stride };
    let pass = Pass::ALL.into_iter().find(|known| known.name() == *pass)?;
    let mut numbers = choice.split(' ');
    let choice = Choice {
        list: numbers.next()?.parse().ok().filter(|&list| list < LISTS.len())?,
        place: numbers.next()?.parse().ok()?,
        engine: numbers.next()?.parse().ok()?,
    };
    Some(((shapes, precision.parse().ok()?, pass, *add == "1"), choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_the_program_can_be_read() {
        for text in KNOWN {
            let (mut lines, first) = (text.lines().skip(1), text.lines().next().unwrap());
            assert!(first.contains(", cuDNN "), "{first}");
            assert!(lines.clone().count() > 40);
            assert!(
                lines.all(|line| parsed(line).is_some() || parsed_of_ours(line).is_some()),
                "{first}"
            );
        }
    }

    #[test]
    fn what_was_chosen_is_written_and_read() {
        let plans = || Plans { gpu: "GPU".into(), streams: 1, chosen: Mutex::default() };
        let shapes = Shapes {
            count: 128,
            height: 32,
            width: 32,
            inputs: 8,
            outputs: 64,
            kernel: 3,
            stride: 1,
        };
        let first = plans();
        assert_eq!(first.text(), None);
        let choice = Choice { list: 1, place: 16, engine: 65 };
        for (pass, add) in [(Pass::Forward, false), (Pass::Backward, true)] {
            let key = sorted((shapes, Precision::Bf16, pass, add));
            let mut chosen = first.chosen();
            chosen.engines.insert(key, choice);
            chosen.new = true;
        }
        first.remember_ours("conv_64", 1.09375);
        let text = first.text().unwrap();
        assert!(text.contains("128 32 32 8 64 3 1 2 backward 1: 1 16 65\n"), "{text}");
        assert_eq!(first.text(), None, "nothing new");
        let second = plans();
        assert_eq!(second.ours(["conv_64"]), None);
        second.take(&text);
        assert_eq!(second.chosen().engines, first.chosen().engines);
        assert_eq!(second.ours(["conv_64"]), Some([1.094]));
        assert_eq!(second.ours(["conv_64", "conv_128"]), None, "one of them is not known");
        // Of another GPU, or not of this kind.
        let other = Plans { gpu: "other".into(), streams: 1, chosen: Mutex::default() };
        other.take(&text);
        other.take("other\nnonsense\n1 2 3: 4\n128 32 32 8 64 3 1 2 forward 0: 9 9 9\nours stem: NaN\nours stem\n");
        assert_eq!(*other.chosen(), Chosen::default());
    }
}
