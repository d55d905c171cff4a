//! Elevator (PPoPP'22, Table 1, after Bouajjani et al., CAV'18): at the request of a user the
//! elevator opens its door, and while the door closes the user may have it stopped and opened
//! again. When it is closed, the elevator moves.
//!
//! The elevator tells the user that the door closes before the door says so, ahead of the protocol.
//! It must not move early: all events are recorded, and the door must be closed at each move.
//!
//! `cargo run -p rumpsteak-examples --example elevator`

use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Mutex;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

#[rumpsteak::protocol(Elevator)]
pub mod elevator {
    #[session(Elevator)]
    type Elevates = Receive<User, OpenDoor, Rest>;

    /// Tells the user that the door closes before the door has begun to: a send may move ahead of a
    /// receive.
    type Rest = Send<
        Door,
        Open,
        Receive<
            Door,
            DoorOpened,
            Send<
                User,
                DoorOpened,
                Receive<
                    User,
                    CloseDoor,
                    Send<
                        Door,
                        Close,
                        Send<User, Closing, Receive<Door, Closing, Branch<User, Choice>>>,
                    >,
                >,
            >,
        >,
    >;

    enum Choice {
        OpenDoor(OpenDoor, Send<Door, Stop, Receive<Door, DoorStopped, Rest>>),
        Stay(Stay, Send<Door, Finish, Receive<Door, DoorClosed, Elevates>>),
    }
}
use self::elevator::*;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// By the door.
    Opens,
    /// By the door.
    Closes,
    /// By the elevator, to this floor.
    Moves(u32),
}

/// The events so far, in order.
#[derive(Default)]
struct Record(Mutex<Vec<Event>>);

impl Record {
    fn add(&self, event: Event) {
        println!("{event:?}");
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(event);
    }

    fn into_events(self) -> Vec<Event> {
        self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Stops the closing door so many times at each floor.
async fn user<'s>(
    mut session: UserSession<'s>,
    stops: &[usize],
    done: oneshot::Sender<()>,
) -> Ended<'s, User, Infallible> {
    for &stops in stops {
        let mut rest = session.send(OpenDoor).await?;
        let mut left = stops;
        session = loop {
            let (DoorOpened, next) = rest.receive().await?;
            let (Closing, next) = next.send(CloseDoor).await?.receive().await?;
            if left == 0 {
                break next.select(Stay).await?;
            }
            left -= 1;
            println!("user: stop!");
            rest = next.select(OpenDoor).await?;
        };
    }
    // Calls once more, to know that the elevator has arrived. The program stops then.
    let (DoorOpened, _open) = session.send(OpenDoor).await?.receive().await?;
    let _ = done.send(());
    std::future::pending().await
}

async fn elevator<'s>(
    mut session: Elevates<'s>,
    record: &Record,
) -> Ended<'s, Elevator, Infallible> {
    let mut floor = 0;
    loop {
        let (OpenDoor, mut rest) = session.receive().await?;
        session = loop {
            let (DoorOpened, next) = rest.send(Open).await?.receive().await?;
            let (CloseDoor, next) = next.send(DoorOpened).await?.receive().await?;
            let next = next.send(Close).await?.send(Closing).await?;
            let (Closing, next) = next.receive().await?;
            match next.branch().await? {
                Choice::OpenDoor(OpenDoor, next) => {
                    let (DoorStopped, next) = next.send(Stop).await?.receive().await?;
                    rest = next;
                }
                Choice::Stay(Stay, next) => {
                    let (DoorClosed, next) = next.send(Finish).await?.receive().await?;
                    floor += 1;
                    record.add(Event::Moves(floor));
                    break next;
                }
            }
        };
    }
}

async fn door<'s>(mut session: DoorSession<'s>, record: &Record) -> Ended<'s, Door, Infallible> {
    loop {
        let (Open, next) = session.receive().await?;
        record.add(Event::Opens);
        let (Close, next) = next.send(DoorOpened).await?.receive().await?;
        session = match next.send(Closing).await?.branch().await? {
            DoorStopChoice::Stop(Stop, next) => next.send(DoorStopped).await?,
            DoorStopChoice::Finish(Finish, next) => {
                record.add(Event::Closes);
                next.send(DoorClosed).await?
            }
        };
    }
}

/// The events while the user has the door stopped twice at the first floor, never at the second and
/// once at the third.
pub async fn run() -> Result<Vec<Event>> {
    let (mut roles, record) = (Roles::default(), Record::default());
    let (done, finished) = oneshot::channel();
    let all = roles.run(
        |session| user(session, &[2, 0, 1], done),
        |session| elevator(session, &record),
        |session| door(session, &record),
    );
    tokio::select! {
        stopped = all => match stopped?.0 {},
        Ok(()) = finished => {}
    }
    Ok(record.into_events())
}

/// The first move with the door open, if there is one.
pub fn first_unsafe_move(events: &[Event]) -> Option<u32> {
    let mut is_open = false;
    for &event in events {
        match event {
            Event::Opens => is_open = true,
            Event::Closes => is_open = false,
            Event::Moves(floor) if is_open => return Some(floor),
            Event::Moves(_) => {}
        }
    }
    None
}

/// The number of times that the door opened and that the elevator moved, and the first move with
/// the door open.
pub fn summary(events: &[Event]) -> (usize, usize, Option<u32>) {
    let opened = events.iter().filter(|event| matches!(event, Event::Opens)).count();
    let moved = events.iter().filter(|event| matches!(event, Event::Moves(_))).count();
    (opened, moved, first_unsafe_move(events))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let summary = run().await.map(|events| summary(&events));
    rumpsteak_examples::conclude(summary, (3 + 1 + 2 + 1, 3, None))
}
