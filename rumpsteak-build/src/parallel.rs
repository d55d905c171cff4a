//! Work for all processors.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

/// What is made of each item, in order, by as many threads as Cargo runs jobs, or as there are
/// processors.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(position) else { return made };
            made.push((position, make(item)));
        }
    };
    let others = jobs().min(items.len()).saturating_sub(1);
    let mut made = thread::scope(|scope| {
        // A thread that cannot be had leaves its work to those that can.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (0..others).filter_map(spawn).collect();
        let mut made = work();
        for other in others {
            made.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        made
    });
    made.sort_unstable_by_key(|(position, _)| *position);
    made.into_iter().map(|(_, made)| made).collect()
}

fn jobs() -> usize {
    let told = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok());
    told.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get))
}
