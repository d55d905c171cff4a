//! The papers' evaluations, rerun beside their peers on this machine.
//!
//! ```text
//! cargo run --release -p rumpsteak-evaluation -- run                        # every figure
//! cargo run --release -p rumpsteak-evaluation -- run --quick fig6-streaming # one, roughly
//! cargo run --release -p rumpsteak-evaluation -- report                     # pictures and tables
//! ```
//!
//! A [`Figure`] has series, and for each value of its x axis one [`Case`] per series. The
//! [`runner`] takes the samples of the cases of one x in turns, so that noise hits all of them
//! alike, and puts them into the [`store`]; the [`report`] is made from the store alone. Each
//! figure is measured in a process of its own, whose allocator is pinned: glibc would otherwise
//! adjust its thresholds while it runs, and figures with large buffers would measure that.
//!
//! A new figure is a module with a function `figures`, named in [`figures::all`].

pub mod adder;
pub mod applications;
pub mod build_cost;
mod case;
pub mod channels;
pub mod command;
pub mod coordination;
pub mod double_buffering;
mod environment;
mod error;
pub mod fft;
pub mod figure;
pub mod figures;
mod jacobi_line;
mod mpi;
mod oneshot;
mod processes;
mod queues;
pub mod report;
pub mod ring;
pub mod runner;
pub mod servers;
pub mod statistics;
pub mod store;
pub mod streaming;
mod tasks;
pub mod transports;
mod usage;
pub mod verification;

pub use case::{Case, Measure, Mode, Sample, Unit};
pub use environment::Environment;
pub use error::{Error, Result};
pub use figure::{Figure, Of, Series, XAxis, YAxis};
pub use statistics::Quartiles;
pub use store::{Row, Store};
