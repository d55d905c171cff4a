//! What the session layer costs: streaming, plain and optimised, through session types and through
//! the same bare channels.
//!
//! `cargo bench -p rumpsteak-benches --bench runtime`
//!
//! Compare within a group: `session` and `bare` send the same messages through the same channels on
//! the same executor. Roles and channels are made once and serve every iteration.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures::{
    StreamExt,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
    executor::block_on,
    future::try_join,
};
use rumpsteak_runtime::{
    Branch, Channel, End, Message, Receive, Result, Role, Roles, Select, Send, session, try_session,
};

/// How many values a session streams before it stops.
const VALUES: [i32; 3] = [10, 50, 100];

/// How many values the optimised source sends before it is asked for any.
const AHEAD: i32 = 5;

#[derive(Roles)]
struct Roles {
    s: S,
    t: T,
}

#[derive(Role)]
#[protocol(Streaming::s)]
#[message(Label)]
struct S {
    #[route(T)]
    t: Channel<Label>,
}

#[derive(Role)]
#[protocol(Streaming::t)]
#[message(Label)]
struct T {
    #[route(S)]
    s: Channel<Label>,
}

#[derive(Message)]
enum Label {
    Ready(Ready),
    Value(Value),
    Stop(Stop),
}

struct Ready;
struct Value(i32);
struct Stop;

#[session(S)]
type Source = Receive<T, Ready, Select<T, SourceChoice>>;

#[session]
enum SourceChoice {
    Value(Value, Source),
    Stop(Stop, End),
}

#[session(S)]
type OptimisedSource =
    Send<T, Value, Send<T, Value, Send<T, Value, Send<T, Value, Send<T, Value, AheadSource>>>>>;

#[session]
struct AheadSource(Receive<T, Ready, Select<T, AheadChoice>>);

#[session]
enum AheadChoice {
    Value(Value, AheadSource),
    Stop(Stop, CatchUp),
}

#[session]
type CatchUp = Receive<
    T,
    Ready,
    Receive<T, Ready, Receive<T, Ready, Receive<T, Ready, Receive<T, Ready, End>>>>,
>;

#[session(T)]
type Sink = Send<S, Ready, Branch<S, SinkChoice>>;

#[session]
enum SinkChoice {
    Value(Value, Sink),
    Stop(Stop, End),
}

async fn source(role: &mut S, count: i32) -> Result<()> {
    try_session(role, async |mut session: Source<'_, _>| {
        for value in 0..count {
            let (Ready, next) = session.receive().await?;
            session = next.select(Value(value)).await?;
        }
        let (Ready, next) = session.receive().await?;
        Ok(((), next.select(Stop).await?))
    })
    .await
}

async fn optimised_source(role: &mut S, count: i32) -> Result<()> {
    try_session(role, async |session: OptimisedSource<'_, _>| {
        let session = session.send(Value(0)).await?;
        let session = session.send(Value(1)).await?;
        let session = session.send(Value(2)).await?;
        let session = session.send(Value(3)).await?;
        let mut session = session.send(Value(4)).await?;
        for value in AHEAD..count {
            let (Ready, next) = session.receive().await?;
            session = next.select(Value(value)).await?;
        }
        let (Ready, next) = session.receive().await?;
        let (Ready, next) = next.select(Stop).await?.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, next) = next.receive().await?;
        let (Ready, end) = next.receive().await?;
        Ok(((), end))
    })
    .await
}

async fn sink(role: &mut T) -> Result<i32> {
    try_session(role, async |mut session: Sink<'_, _>| {
        let mut sum = 0;
        loop {
            session = match session.send(Ready).await?.branch().await? {
                SinkChoice::Value(Value(value), next) => {
                    sum += value;
                    next
                }
                SinkChoice::Stop(Stop, end) => return Ok((sum, end)),
            };
        }
    })
    .await
}

/// One end of the channels between the source and the sink, without a session.
struct Bare {
    sender: UnboundedSender<Label>,
    receiver: UnboundedReceiver<Label>,
}

impl Bare {
    fn pair() -> (Self, Self) {
        let (to_sink, from_source) = unbounded();
        let (to_source, from_sink) = unbounded();
        (
            Self {
                sender: to_sink,
                receiver: from_sink,
            },
            Self {
                sender: to_source,
                receiver: from_source,
            },
        )
    }

    fn send(&self, label: Label) -> std::result::Result<(), &'static str> {
        self.sender
            .unbounded_send(label)
            .map_err(|_| "the peer is gone")
    }

    async fn ready(&mut self) -> std::result::Result<(), &'static str> {
        match self.receiver.next().await {
            Some(Label::Ready(Ready)) => Ok(()),
            _ => Err("not a ready"),
        }
    }
}

async fn bare_source(
    s: &mut Bare,
    count: i32,
    ahead: i32,
) -> std::result::Result<(), &'static str> {
    for value in 0..ahead {
        s.send(Label::Value(Value(value)))?;
    }
    for value in ahead..count {
        s.ready().await?;
        s.send(Label::Value(Value(value)))?;
    }
    s.ready().await?;
    s.send(Label::Stop(Stop))?;
    for _ in 0..ahead {
        s.ready().await?;
    }
    Ok(())
}

async fn bare_sink(t: &mut Bare) -> std::result::Result<i32, &'static str> {
    let mut sum = 0;
    loop {
        t.send(Label::Ready(Ready))?;
        match t.receiver.next().await {
            Some(Label::Value(Value(value))) => sum += value,
            Some(Label::Stop(Stop)) => return Ok(sum),
            _ => return Err("neither a value nor a stop"),
        }
    }
}

/// The sum that the sink must have computed: a benchmark of a wrong answer measures nothing.
fn expected(count: i32) -> i32 {
    (0..count).sum()
}

fn streaming(criterion: &mut Criterion) {
    for (name, ahead) in [("streaming", 0), ("optimised_streaming", AHEAD)] {
        let mut group = criterion.benchmark_group(name);
        for count in VALUES {
            group.throughput(Throughput::Elements(count.unsigned_abs().into()));
            group.bench_with_input(
                BenchmarkId::new("session", count),
                &count,
                |bencher, &count| {
                    let Roles { mut s, mut t } = Roles::default();
                    bencher.iter(|| {
                        let source = async {
                            if ahead == 0 {
                                source(&mut s, black_box(count)).await
                            } else {
                                optimised_source(&mut s, black_box(count)).await
                            }
                        };
                        let sum = block_on(try_join(source, sink(&mut t))).map(|((), sum)| sum);
                        assert_eq!(sum.ok(), Some(expected(count)));
                    });
                },
            );
            group.bench_with_input(
                BenchmarkId::new("bare", count),
                &count,
                |bencher, &count| {
                    let (mut s, mut t) = Bare::pair();
                    bencher.iter(|| {
                        let source = bare_source(&mut s, black_box(count), ahead);
                        let sum =
                            block_on(try_join(source, bare_sink(&mut t))).map(|((), sum)| sum);
                        assert_eq!(sum, Ok(expected(count)));
                    });
                },
            );
        }
        group.finish();
    }
}

criterion_group!(benches, streaming);
criterion_main!(benches);
