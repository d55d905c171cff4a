//! Sessions over the default channel of the runtime.

/// A route in both directions.
pub type Both<M> = rumpsteak_runtime::Channel<M>;
/// A route that only sends.
pub type Out<M> = rumpsteak_runtime::channel::Sender<M>;
/// A route that only receives.
pub type In<M> = rumpsteak_runtime::channel::Receiver<M>;

#[path = "sessions/double_buffering.rs"]
pub mod double_buffering;
#[path = "sessions/fan_2.rs"]
pub mod fan_2;
#[path = "sessions/fan_8.rs"]
pub mod fan_8;
#[path = "sessions/lap.rs"]
pub mod lap;
#[path = "sessions/ring.rs"]
pub mod ring;
#[path = "sessions/streaming.rs"]
pub mod streaming;
