//! What the channels are built from, under one set of names: the real thing, or what the models in
//! [`models`](super::models) put in its place so that loom sees every access.

#[cfg(not(all(test, rumpsteak_loom)))]
mod real {
    pub(crate) use std::sync::atomic;
    pub(crate) use std::sync::{Arc, Mutex};

    pub(crate) use rtrb::{Consumer, Producer};

    /// A ring with room for `capacity` messages.
    pub(crate) fn ring<M>(capacity: usize) -> (Producer<M>, Consumer<M>) {
        rtrb::RingBuffer::new(capacity)
    }
}

#[cfg(not(all(test, rumpsteak_loom)))]
pub(crate) use real::*;

#[cfg(all(test, rumpsteak_loom))]
pub(crate) use super::models::sync::*;
