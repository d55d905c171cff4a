//! A closed system in which one role receives from whichever peer is first.

use rumpsteak::states::End;
use rumpsteak::transport::Route;
use rumpsteak::{Channel, Result, Role, try_run};

#[rumpsteak::closed_system]
mod fan_in {
    /// All roles.
    #[derive(Roles)]
    struct Roles {
        /// Writes.
        a: Left,
        /// Also writes.
        b: Right,
        /// Collects.
        c: Hub,
    }

    /// The session of `Left`.
    #[session(Left)]
    type WriterA = Ahead;

    /// The session of `Right`.
    #[session(Right)]
    type WriterB = Ahead;

    /// The common session of both: they are two lines ahead.
    type Ahead = Send<Hub, Line, Send<Hub, Line, Window>>;

    /// The loop of both.
    type Window = Select<Hub, Writes>;

    /// The next line, or the end.
    enum Writes {
        /// A line.
        Line(Line, Receive<Hub, Got, Window>),
        /// No more.
        LastLine(LastLine, Receive<Hub, Got, Receive<Hub, Got, End>>),
    }

    /// The session of `Hub`: a struct that refers to itself through its choice.
    #[session(Hub)]
    struct Collector(Branch<Both>);

    /// While both write.
    enum Both {
        /// A line of `Left`.
        FromA(Receive<Left, Line, Send<Left, Got, Collector>>),
        /// A line of `Right`.
        FromB(Receive<Right, Line, Send<Right, Got, Collector>>),
        /// `Left` has ended.
        NoMoreA(Receive<Left, LastLine, Branch<Right, OnlyB>>),
        /// `Right` has ended.
        NoMoreB(Receive<Right, LastLine, Branch<Left, OnlyA>>),
    }

    /// While only `Left` writes.
    enum OnlyA {
        /// A line.
        Line(Line, Send<Left, Got, Branch<Left, OnlyA>>),
        /// No more.
        LastLine(LastLine, End),
    }

    /// While only `Right` writes.
    enum OnlyB {
        /// A line.
        Line(Line, Send<Right, Got, Branch<Right, OnlyB>>),
        /// No more.
        LastLine(LastLine, End),
    }

    /// A line.
    struct Line(u32);

    /// No more.
    struct LastLine;

    /// The answer to each line.
    struct Got;
}
pub use self::fan_in::*;

/// Writes `lines` lines, two at least.
///
/// # Errors
///
/// The errors of the session.
pub async fn writer_a(role: &mut Left, lines: u32) -> Result<()> {
    try_run(role, async |s: WriterA<'_>| write(s, lines).await).await
}

/// Writes `lines` lines, two at least.
///
/// # Errors
///
/// The errors of the session.
pub async fn writer_b(role: &mut Right, lines: u32) -> Result<()> {
    try_run(role, async |s: WriterB<'_>| write(s, lines).await).await
}

/// Writes `lines` lines, two at least.
///
/// # Errors
///
/// The errors of the session.
pub async fn write<'s, R>(s: Ahead<'s, R>, lines: u32) -> Result<((), End<'s, R>)>
where
    R: Role<Message = Label> + Route<Hub, Link = Channel<Label>>,
{
    let mut s = s.send(Line(0)).await?.send(Line(1)).await?;
    for line in 2..lines {
        (Got, s) = s.select(Line(line)).await?.receive().await?;
    }
    let (Got, s) = s.select(LastLine).await?.receive().await?;
    let (Got, end) = s.receive().await?;
    Ok(((), end))
}

/// Collects the lines with their authors.
///
/// # Errors
///
/// The errors of the session.
pub async fn collector(role: &mut Hub) -> Result<Vec<(char, u32)>> {
    try_run(role, async |mut s: Collector<'_>| {
        let mut lines = Vec::new();
        let end = loop {
            s = match s.branch().await? {
                Both::FromA(Line(line), s) => {
                    lines.push(('l', line));
                    s.send(Got).await?
                }
                Both::FromB(Line(line), s) => {
                    lines.push(('r', line));
                    s.send(Got).await?
                }
                Both::NoMoreA(LastLine, mut s) => {
                    break loop {
                        s = match s.branch().await? {
                            OnlyB::Line(Line(line), s) => {
                                lines.push(('r', line));
                                s.send(Got).await?
                            }
                            OnlyB::LastLine(LastLine, end) => break end,
                        };
                    };
                }
                Both::NoMoreB(LastLine, mut s) => {
                    break loop {
                        s = match s.branch().await? {
                            OnlyA::Line(Line(line), s) => {
                                lines.push(('l', line));
                                s.send(Got).await?
                            }
                            OnlyA::LastLine(LastLine, end) => break end,
                        };
                    };
                }
            };
        };
        Ok((lines, end))
    })
    .await
}
