//! Streaming over `mpstthree`: a thread for each role, and a new channel for each interaction.

use mpstthree::binary::struct_trait::end::End;
use mpstthree::binary::struct_trait::recv::Recv;
use mpstthree::binary::struct_trait::send::Send;
use mpstthree::binary::struct_trait::session::Session;
use mpstthree::role::broadcast::RoleBroadcast;
use mpstthree::role::end::RoleEnd;
use std::sync::mpsc;

use crate::{Error, Result};

mpstthree::generate!("recursive", MeshedChannels, S, T);

/// The error of a role.
type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Ready;

enum Choice {
    Value(Taking),
    Stop(MeshedChannels<End, RoleEnd, NameT>),
}

type Taking = MeshedChannels<Recv<i32, Send<Ready, ToSource>>, RoleS<RoleS<RoleS<RoleEnd>>>, NameT>;
type ToSource = Recv<Choice, End>;
type ToSink = <ToSource as Session>::Dual;
type Source = MeshedChannels<Recv<Ready, ToSink>, RoleT<RoleBroadcast>, NameS>;
type Sink = MeshedChannels<Send<Ready, ToSource>, RoleS<RoleS<RoleEnd>>, NameT>;
type Offered = MeshedChannels<ToSource, RoleS<RoleEnd>, NameT>;

/// Streams so many values, from 0, and returns the values of the sink.
///
/// # Errors
///
/// [`Error::Wrong`] if a role fails.
pub(super) fn stream(count: i32) -> Result<Vec<i32>> {
    // A role returns nothing: its result leaves the thread through a channel.
    let (output, received) = mpsc::channel();
    let (s, t) = fork_mpst(
        move |session: Source| source(session, count),
        move |session: Sink| {
            let mut values = Vec::new();
            let outcome = offered(session.send(Ready), &mut values);
            output.send(values)?;
            outcome
        },
    );
    s.join().and(t.join()).map_err(|_| Error::wrong("a role failed"))?;
    received.recv().map_err(Error::wrong)
}

fn source(session: Source, count: i32) -> Outcome<()> {
    let mut session = session;
    for value in 0..count {
        let (Ready, next) = session.recv();
        let next = choose_mpst_s_to_all!(next, Choice::Value);
        session = next.send(value);
    }
    let (Ready, next) = session.recv();
    let next = choose_mpst_s_to_all!(next, Choice::Stop);
    next.close()
}

fn offered(session: Offered, values: &mut Vec<i32>) -> Outcome<()> {
    offer_mpst!(session, {
        Choice::Value(next) => {
            let (value, next) = next.recv();
            values.push(value);
            offered(next.send(Ready), values)
        },
        Choice::Stop(next) => next.close(),
    })
}
