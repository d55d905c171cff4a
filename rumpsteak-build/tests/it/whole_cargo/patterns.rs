//! What programs of tasks and channels do, each written in Scribble, generated and run, and written
//! by hand: a pool of workers, the first answer, a request that is cancelled, lines from whichever
//! role is ready, a log beside the work, one with as many entries as one likes, and an expert who
//! is asked only if the clerk needs it. Each with a change that is refused.

use super::programs::{printed, programs};
use crate::support::{check_files, only, says};

pub(super) const PROTOCOLS: [(&str, &str); 7] = [
    (
        "pool",
        "global protocol Pool(role d, role a, role b) {
  rec loop {
    choice at d { job(i32) from d to a; done(i32) from a to d; continue loop; }
    or { job(i32) from d to b; done(i32) from b to d; continue loop; }
    or { stop() from d to a; stop() from d to b; }
  }
}
",
    ),
    (
        "mirrors",
        "global protocol Mirrors(role c, role a, role b) {
  get(i32) from c to a, b;
  par { page(i32) from a to c; } and { page(i32) from b to c; }
}
",
    ),
    (
        "request",
        "global protocol Request(role c, role s) {
  interruptible {
    question(i32) from c to s;
    answer(i32) from s to c;
    thanks() from c to s;
  } with { cancel() by c; }
}
",
    ),
    (
        "lines",
        "global protocol Lines(role a, role b, role c) {
  par { line(i32) from a to c; last() from a to c; } and { line(i32) from b to c; last() from b to c; }
}
",
    ),
    (
        "log",
        "global protocol Log(role a, role b, role l) {
  par { entry(i32) from a to l; close() from a to l; }
  and { work(i32) from a to b; outcome(i32) from b to a; }
}
",
    ),
    (
        "journal",
        "global protocol Journal(role a, role b, role l) {
  par {
    rec more { choice at a { entry(i32) from a to l; continue more; } or { close() from a to l; } }
  } and {
    work(i32) from a to b;
    outcome(i32) from b to a;
  }
}
",
    ),
    (
        "hire",
        "explicit global protocol Hire(role boss, role clerk, role expert) {
  connect boss to clerk;
  task(i32) from boss to clerk;
  choice at clerk {
    ask(i32) connect clerk to expert;
    advice(i32) from expert to clerk;
    reply(i32) from clerk to boss;
  } or {
    reply(i32) from clerk to boss;
  }
}
",
    ),
];

/// Processes over the code that is generated.
pub(super) const GENERATED: &str = r#"
use std::future::{pending, ready};
use std::task::Poll;

use rumpsteak::states::Raced;
use rumpsteak::{Error, ErrorKind, Result, join, try_run};

#[rumpsteak::protocol(Pool)]
mod pool {}
#[rumpsteak::protocol(Mirrors)]
mod mirrors {}
#[rumpsteak::protocol(Request)]
mod request {}
#[rumpsteak::protocol(Lines)]
mod lines {}
#[rumpsteak::protocol(Log)]
mod log {}
#[rumpsteak::protocol(Journal)]
mod journal {}
#[rumpsteak::protocol(Hire)]
mod hire {}

/// Each worker has a job when it is free.
fn pooled(jobs: &[i32]) -> Result<i32> {
    use pool::*;
    let Roles { mut d, mut a, mut b } = Roles::default();
    let dispatcher = try_run(&mut d, async |mut s: DSession<'_>| {
        let mut sum = 0;
        for (index, &job) in jobs.iter().enumerate() {
            let done;
            (Done(done), s) = match index % 2 {
                0 => s.select::<A, _>(Job(job)).await?.receive().await?,
                _ => s.select::<B, _>(Job(job)).await?.receive().await?,
            };
            sum += done;
        }
        Ok::<_, Error>((sum, s.select(Stop).await?.send(Stop).await?))
    });
    let first = try_run(&mut a, async |mut s: ASession<'_>| {
        loop {
            s = match s.branch().await? {
                AJobChoice::Job(Job(job), s) => s.send(Done(10 * job)).await?,
                AJobChoice::Stop(Stop, end) => return Ok::<_, Error>(((), end)),
            };
        }
    });
    let second = try_run(&mut b, async |mut s: BSession<'_>| {
        loop {
            s = match s.branch().await? {
                BJobChoice::Job(Job(job), s) => s.send(Done(100 * job)).await?,
                BJobChoice::Stop(Stop, end) => return Ok::<_, Error>(((), end)),
            };
        }
    });
    let (sum, first, second) = block_on(join((dispatcher, first, second)));
    first.and(second).and(sum)
}

/// The first page counts, and the other one is received and dropped.
fn mirrored() -> Result<i32> {
    use mirrors::*;
    let Roles { mut c, mut a, mut b } = Roles::default();
    let client = try_run(&mut c, async |s: CSession<'_>| {
        let s = s.send(Get(1)).await?.send(Get(1)).await?;
        let (mut first, mut due) = (None, s.gather());
        loop {
            due = match due.next().await? {
                CPageGather::PageFromA(Page(page), due)
                | CPageGather::PageFromB(Page(page), due) => {
                    first.get_or_insert(page);
                    due
                }
                CPageGather::All(end) => return Ok::<_, Error>((first.unwrap_or_default(), end)),
            };
        }
    });
    let slow = try_run(&mut a, async |s: ASession<'_>| {
        let (Get(_), s) = s.receive().await?;
        for _ in 0..3 {
            let mut is_ready = false;
            std::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut is_ready, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
        Ok::<_, Error>(((), s.send(Page(1)).await?))
    });
    let fast = try_run(&mut b, async |s: BSession<'_>| {
        let (Get(_), s) = s.receive().await?;
        Ok::<_, Error>(((), s.send(Page(2)).await?))
    });
    let (page, slow, fast) = block_on(join((client, slow, fast)));
    slow.and(fast).and(page)
}

fn requested(
    patience: impl Future<Output = ()>,
    work: impl Future<Output = i32>,
) -> Result<Option<i32>> {
    use request::*;
    let Roles { mut c, mut s } = Roles::default();
    let client = try_run(&mut c, async |s: CSession<'_>| {
        let s = s.select(Question(1)).await?;
        let cancel = async {
            patience.await;
            Cancel
        };
        let mut s = match s.race(cancel).await? {
            Raced::Sent(s) => s,
            Raced::Heard(CAnswerChoice::Answer(Answer(answer), s)) => {
                return Ok::<_, Error>((Some(answer), s.select(Thanks).await?));
            }
        };
        loop {
            s = match s.branch().await? {
                CAnswerChoiceAfterCancel::Answer(Answer(_), s) => s,
                CAnswerChoiceAfterCancel::Cancel(Cancel, end) => return Ok((None, end)),
            };
        }
    });
    let server = try_run(&mut s, async |s: SSession<'_>| {
        let s = match s.branch().await? {
            SQuestionChoice::Question(Question(_), s) => s,
            SQuestionChoice::Cancel(Cancel, s) => return Ok(((), s.send(Cancel).await?)),
        };
        let s = match s.race(async { Answer(work.await) }).await? {
            Raced::Sent(s) => s,
            Raced::Heard(SAnswerChoice::Cancel(Cancel, s)) => {
                return Ok(((), s.send(Cancel).await?));
            }
        };
        Ok::<_, Error>(match s.branch().await? {
            SThanksChoice::Thanks(Thanks, end) => ((), end),
            SThanksChoice::Cancel(Cancel, s) => ((), s.send(Cancel).await?),
        })
    });
    let (answer, served) = block_on(join((client, server)));
    served.and(answer)
}

/// Lines of both, in the order in which they come.
fn collected() -> Result<String> {
    use lines::*;
    let Roles { mut a, mut b, mut c } = Roles::default();
    let left = try_run(&mut a, async |s: ASession<'_>| {
        Ok::<_, Error>(((), s.send(Line(1)).await?.send(Last).await?))
    });
    let right = try_run(&mut b, async |s: BSession<'_>| {
        Ok::<_, Error>(((), s.send(Line(2)).await?.send(Last).await?))
    });
    let both = try_run(&mut c, async |s: CSession<'_>| {
        let (mut lines, mut due) = (Vec::new(), s.gather());
        let mut last = loop {
            due = match due.next().await? {
                CLineGather::LineFromA(Line(line), due)
                | CLineGather::LineFromB(Line(line), due) => {
                    lines.push(line);
                    due
                }
                CLineGather::All(s) => break s.gather(),
            };
        };
        loop {
            last = match last.next().await? {
                CLastGather::LastFromA(Last, due) | CLastGather::LastFromB(Last, due) => due,
                CLastGather::All(end) => return Ok::<_, Error>((lines, end)),
            };
        }
    });
    let (left, right, lines) = block_on(join((left, right, both)));
    let mut lines = left.and(right).and(lines)?;
    lines.sort();
    Ok(format!("{lines:?}"))
}

/// The log is told of the end while the work goes on.
fn logged() -> Result<(i32, i32)> {
    use log::*;
    let Roles { mut a, mut b, mut l } = Roles::default();
    let main = try_run(&mut a, async |s: ASession<'_>| {
        let s = s.send(Entry(7)).await?.send(Close).await?.send(Work(20)).await?;
        let (Outcome(outcome), end) = s.receive().await?;
        Ok::<_, Error>((outcome, end))
    });
    let worker = try_run(&mut b, async |s: BSession<'_>| {
        let (Work(work), s) = s.receive().await?;
        Ok::<_, Error>(((), s.send(Outcome(work + 1)).await?))
    });
    let log = try_run(&mut l, async |s: LSession<'_>| {
        let (Entry(entry), s) = s.receive().await?;
        let (Close, end) = s.receive().await?;
        Ok::<_, Error>((entry, end))
    });
    let (outcome, worked, entry) = block_on(join((main, worker, log)));
    worked.and(Ok((outcome?, entry?)))
}

/// So many entries, and one more when the outcome has come.
fn journal_of(work: i32, entries: i32) -> Result<(i32, i32)> {
    use journal::*;
    let Roles { mut a, mut b, mut l } = Roles::default();
    let main = try_run(&mut a, async |s: ASession<'_>| {
        let mut s = s.select(Work(work)).await?;
        let mut left = entries;
        loop {
            left -= 1;
            let entry = async {
                if left < 0 {
                    pending::<()>().await;
                }
                Entry(1)
            };
            s = match s.race(entry).await? {
                Raced::Sent(s) => s,
                Raced::Heard(AEntryChoiceAfterWork::Outcome(Outcome(outcome), s)) => {
                    let s = s.select(Entry(1)).await?;
                    return Ok::<_, Error>((outcome, s.select(Close).await?));
                }
                Raced::Heard(_) => unreachable!("nothing else is received"),
            };
        }
    });
    let worker = try_run(&mut b, async |s: BSession<'_>| {
        let (Work(work), s) = s.receive().await?;
        Ok::<_, Error>(((), s.send(Outcome(work + 1)).await?))
    });
    let log = try_run(&mut l, async |mut s: LSession<'_>| {
        let mut entries = 0;
        loop {
            s = match s.branch().await? {
                LEntryChoice::Entry(Entry(entry), s) => {
                    entries += entry;
                    s
                }
                LEntryChoice::Close(Close, end) => return Ok::<_, Error>((entries, end)),
            };
        }
    });
    let (outcome, worked, entries) = block_on(join((main, worker, log)));
    worked.and(Ok((outcome?, entries?)))
}

/// The answer that the boss receives, and true if the expert was asked; `None` without an expert.
fn hired(task: i32, expert: bool) -> Result<(i32, Option<bool>)> {
    let hire::Roles { boss, clerk, expert: own } = hire::Roles::default();
    let expert = expert.then_some(own);
    // A role is dropped when it is done, so the expert learns that no request will come.
    let (reply, done, asked) = block_on(join((boss_of(boss, task), clerk_of(clerk), expert_of(expert))));
    done.and(Ok((reply?, asked?)))
}

async fn boss_of(mut boss: hire::Boss, task: i32) -> Result<i32> {
    use hire::*;
    try_run(&mut boss, async |s: BossSession<'_>| {
        let (Reply(reply), end) = s.send(Connect).await?.send(Task(task)).await?.receive().await?;
        Ok((reply, end))
    })
    .await
}

async fn clerk_of(mut clerk: hire::Clerk) -> Result<()> {
    use hire::*;
    try_run(&mut clerk, async |s: ClerkSession<'_>| {
        let (Connect, s) = s.receive().await?;
        let (Task(task), s) = s.receive().await?;
        if task < 10 {
            return Ok(((), s.select(Reply(task)).await?));
        }
        let (Advice(advice), s) = s.select(Ask(task)).await?.receive().await?;
        Ok(((), s.send(Reply(advice)).await?))
    })
    .await
}

async fn expert_of(expert: Option<hire::Expert>) -> Result<Option<bool>> {
    use hire::*;
    let Some(mut expert) = expert else { return Ok(None) };
    let advised = try_run(&mut expert, async |s: ExpertSession<'_>| {
        let (Ask(task), s) = s.receive().await?;
        Ok::<_, Error>(((), s.send(Advice(10 * task)).await?))
    });
    match advised.await {
        Ok(()) => Ok(Some(true)),
        Err(error) if matches!(error.kind(), ErrorKind::Closed { .. }) => Ok(Some(false)),
        Err(error) => Err(error),
    }
}

fn main() -> Result<()> {
    println!("pool {}", pooled(&[1, 2, 3])?);
    println!("mirrors {}", mirrored()?);
    println!("request {:?}", requested(pending(), ready(42))?);
    println!("cancelled {:?}", requested(ready(()), pending())?);
    println!("lines {}", collected()?);
    println!("log {:?}", logged()?);
    println!("journal {:?}", journal_of(20, 3)?);
    println!("hired {:?} {:?} {:?}", hired(3, false)?, hired(4, true)?, hired(50, true)?);
    Ok(())
}
"#;

#[test]
fn generated_they_run() {
    let expected = "pool 240\nmirrors 2\nrequest Some(42)\ncancelled None\nlines [1, 2]\nlog (21, 7)\n\
                    journal (21, 4)\nhired (3, None) (4, Some(false)) (500, Some(true))\n";
    assert_eq!(printed("patterns"), expected);
}

/// The sessions of the roles that have a choice, as a person writes them.
pub(super) const BY_HAND: &str = "\
#[rumpsteak::protocol(Pool)]
mod pool {
    #[session(D)] type Dispatcher = Select<Next>;
    enum Next {
        ToA(Send<A, Job, Receive<A, Done, Dispatcher>>),
        ToB(Send<B, Job, Receive<B, Done, Dispatcher>>),
        Stop(Send<A, Stop, Send<B, Stop, End>>),
    }
}

#[rumpsteak::protocol(Mirrors)]
mod mirrors {
    #[session(C)] type Client = Send<A, Get, Send<B, Get, Branch<First>>>;
    enum First {
        OfA(Receive<A, Page, Receive<B, Page, End>>),
        OfB(Receive<B, Page, Receive<A, Page, End>>),
    }
}

#[rumpsteak::protocol(Request)]
mod request {
    #[session(C)] type Client = Select<S, Begin>;
    enum Begin { Question(Question, Race<Patience>), Cancel(Cancel, Draining) }
    enum Patience {
        Answer(Receive<S, Answer, Select<S, After>>),
        Cancel(Send<S, Cancel, Draining>),
    }
    enum After { Thanks(Thanks, End), Cancel(Cancel, Draining) }
    type Draining = Branch<S, Drained>;
    enum Drained { Answer(Answer, Draining), Cancel(Cancel, End) }
}

#[rumpsteak::protocol(Lines)]
mod lines {
    #[session(C)] type Collector = Branch<Both>;
    enum Both {
        OfA(Receive<A, Line, Branch<NextOfB>>),
        OfB(Receive<B, Line, Branch<NextOfA>>),
    }
    enum NextOfB {
        Last(Receive<A, Last, Receive<B, Line, Receive<B, Last, End>>>),
        Line(Receive<B, Line, Branch<Lasts>>),
    }
    enum NextOfA {
        Last(Receive<B, Last, Receive<A, Line, Receive<A, Last, End>>>),
        Line(Receive<A, Line, Branch<Lasts>>),
    }
    enum Lasts {
        OfA(Receive<A, Last, Receive<B, Last, End>>),
        OfB(Receive<B, Last, Receive<A, Last, End>>),
    }
}

#[rumpsteak::protocol(Log)]
mod log {
    #[session(A)] type Main = Send<B, Work, Race<Ready>>;
    enum Ready {
        Entry(Send<L, Entry, Race<Closing>>),
        Outcome(Receive<B, Outcome, Send<L, Entry, Send<L, Close, End>>>),
    }
    enum Closing {
        Close(Send<L, Close, Receive<B, Outcome, End>>),
        Outcome(Receive<B, Outcome, Send<L, Close, End>>),
    }
}

#[rumpsteak::protocol(Journal)]
mod journal {
    #[session(A)] type Main = Send<B, Work, Race<Busy>>;
    enum Busy {
        Entry(Send<L, Entry, Race<Busy>>),
        Close(Send<L, Close, Last>),
        Outcome(Receive<B, Outcome, Select<L, Rest>>),
    }
    type Last = Receive<B, Outcome, End>;
    enum Rest { Entry(Entry, Select<L, Rest>), Close(Close, End) }
}

#[rumpsteak::protocol(Hire)]
mod hire {
    #[session(Expert)] type Advisor = Receive<Clerk, Ask, Send<Clerk, Advice, End>>;
}
";

#[test]
fn by_hand_they_pass_and_what_is_unsafe_is_refused_at_its_token() {
    programs().check(&["--example", "patterns_by_hand"]).passes();
    for (from, to, token, text) in [
        // Who has no job does not answer.
        (
            "ToA(Send<A, Job, Receive<A, Done, Dispatcher>>)",
            "ToA(Send<A, Job, Receive<B, Done, Dispatcher>>)",
            "Receive",
            "d waits for done(i32) from b",
        ),
        // The later page is not forgotten.
        (
            "OfA(Receive<A, Page, Receive<B, Page, End>>)",
            "OfA(Receive<A, Page, End>)",
            "End",
            "page(i32)",
        ),
        // An answer may cross the wish not to have it.
        (
            "enum Drained { Answer(Answer, Draining), Cancel(Cancel, End) }",
            "enum Drained { Cancel(Cancel, End) }",
            "Branch",
            "answer(i32)",
        ),
        // The one that is last is not the last of both.
        (
            "OfB(Receive<B, Last, Receive<A, Last, End>>)",
            "OfB(Receive<B, Last, End>)",
            "End",
            "in the queue from a to c: last",
        ),
        // The log waits for its end.
        (
            "Close(Send<L, Close, Receive<B, Outcome, End>>)",
            "Close(Send<L, Entry, Receive<B, Outcome, End>>)",
            "Close",
            "entry(i32)",
        ),
        // A role that has not ended its log must not forget it.
        (
            "enum Rest { Entry(Entry, Select<L, Rest>), Close(Close, End) }",
            "enum Rest { Entry(Entry, End), Close(Close, End) }",
            "End",
            "l waits for",
        ),
        // A role that is not asked says nothing.
        (
            "Receive<Clerk, Ask, Send<Clerk, Advice, End>>",
            "Send<Clerk, Advice, Receive<Clerk, Ask, End>>",
            "Send",
            "clerk never receives the message from expert",
        ),
    ] {
        assert_eq!(BY_HAND.matches(from).count(), 1, "{from}");
        let source = BY_HAND.replace(from, to);
        let paths = PROTOCOLS.map(|(name, text)| (format!("protocols/{name}.scr"), text));
        let mut files: Vec<(&str, &str)> =
            paths.iter().map(|(path, text)| (&**path, *text)).collect();
        files.push(("src/lib.rs", &source));
        let check = check_files("patterns", &files);
        let problem = only(&check);
        assert_eq!(&source[problem.range.clone()], token, "{}", problem.text);
        says(&problem.text, "the shortest run that");
        says(&problem.text, text);
    }
}
