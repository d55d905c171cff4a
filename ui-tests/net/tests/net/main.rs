//! Sessions across processes: over every transport, with connections that break, and with peers
//! that do not fit or do not behave.

#![allow(clippy::unwrap_used, reason = "helpers of a test: a panic is a failure")]

mod ahead;
mod breaks;
#[cfg(feature = "nats")]
mod broker;
mod delegation;
mod demand;
mod greeting;
mod meddling;
mod negotiation;
mod peers;
mod service;
mod shop;
mod strangers;
mod successive;
mod transports;
mod versions;
mod window;
