//! A pair of machines with common numbers.

use std::sync::Arc;

use crate::machine::Fsm;
pub(super) use crate::machine::interned::{Act, Edge, InternedMachine as Machine, Kind, State};

#[derive(Clone)]
pub(super) struct Pair {
    pub(super) sub: Arc<Machine>,
    pub(super) sup: Arc<Machine>,
}

impl Pair {
    pub(super) fn new(sub: &Fsm, sup: &Fsm) -> Self {
        let (sub, sup) = Machine::align(sub.interned(), sup.interned());
        Self { sub, sup }
    }

    pub(super) fn kind(&self, act: Act) -> Kind {
        self.sub.names.kind_of[act as usize]
    }

    pub(super) fn sends(&self, kind: Kind) -> bool {
        self.sub.names.is_send[kind as usize]
    }

    pub(super) fn kinds(&self) -> usize {
        self.sub.names.is_send.len()
    }

    pub(super) fn acts(&self) -> usize {
        self.sub.names.kind_of.len()
    }
}
