use futures_channel::mpsc::UnboundedSender;

/// How many messages a queue has room for, and what happens when it is full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Capacity {
    /// Room for this many messages, and there are never more, so a sender never waits. A send into
    /// the full queue panics, which poisons the role.
    AtMost(usize),
    /// Room for any number of messages, as far as memory lasts. A sender never waits.
    #[default]
    Growable,
    /// Room for this many messages. A sender waits while the queue is full, so with room for 0 it
    /// waits forever.
    Waits(usize),
}

/// One direction of a route.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Queue {
    /// The name of the sending role in the protocol, for messages; may be empty.
    pub from: &'static str,
    /// The name of the receiving role in the protocol, for messages; may be empty.
    pub to: &'static str,
    /// The capacity.
    pub capacity: Capacity,
}

impl Queue {
    /// A queue with this capacity, between roles without names.
    pub const fn new(capacity: Capacity) -> Self {
        Self { from: "", to: "", capacity }
    }

    /// The same queue with the names of its roles.
    #[must_use]
    pub const fn between(self, from: &'static str, to: &'static str) -> Self {
        Self { from, to, ..self }
    }
}

/// A route to `Peer`, or its sending half, whose room the build script knows: it is what was proven
/// to be enough, or unbounded. Any other route declares its room.
#[diagnostic::on_unimplemented(
    message = "the build does not know how many messages a route of type `{Self}` has room for",
    label = "this route does not declare its room",
    note = "write `#[route({Peer}, capacity = 4)]` if a send waits while 4 messages are in the queue, and \
            `#[route({Peer}, unbounded)]` if a send never waits for `{Peer}`; for generated routes, \
            write `capacity = 4` or `unbounded` in the attribute of the module"
)]
pub trait KnownRoom<Peer> {}

#[diagnostic::do_not_recommend]
impl<M, P> KnownRoom<P> for UnboundedSender<M> {}

/// Compiles if the room of this route is known. Used by the macro.
pub const fn known_room<L: KnownRoom<P>, P>() {}
