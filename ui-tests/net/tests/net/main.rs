//! Sessions across processes: over every transport, with connections that break, and with peers
//! that do not fit or do not behave.

#![allow(clippy::unwrap_used, reason = "helpers of a test: a panic is a failure")]

mod absent_peer;
#[cfg(feature = "nats")]
mod broker;
mod bulk;
mod crossing;
mod duplex;
mod families;
mod handshake;
mod meddling;
mod negotiation;
mod parcel;
mod peers;
mod proxies;
mod reconnect;
mod service;
mod sessions_apart;
mod shared;
mod shop;
#[cfg(unix)]
mod short;
mod strangers;
mod successive_sessions;
mod timeout;
mod transfer;
mod transports;
mod versions;
mod watch;
mod window;

/// An executor whose clock only runs while all tasks wait for it.
fn paused() -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap()
}
