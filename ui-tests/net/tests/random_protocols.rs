//! Random protocols over real channels, on two threads, cancelled at random moments: nobody hangs,
//! no queue gets longer than was proven, and no message is lost, doubled, out of order, or left
//! behind.
//!
//! The protocols are those that the verifier is tested with, each role perhaps reordered as far as
//! asynchronous subtyping accepts. There is no Rust source of them: an interpreter plays each
//! machine, session after session, over channels with the capacities that were proven for it, or
//! with the least ones with which waiting was proven safe.
//!
//! Runs for two seconds, or for as many as `RUMPSTEAK_SOAK` says. `RUMPSTEAK_SOAK_SEED` is the
//! first system to play.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test states what holds, and prints its figures"
)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use futures::{SinkExt as _, StreamExt as _};
use rumpsteak::Channel;
use rumpsteak::channel::{Capacity, QueueReceiver, QueueSender};
use rumpsteak_fsm::capacity::{self, Capacities, Occupancy};
use rumpsteak_fsm::{Direction, Fsm, Limits, Role, System, kmc, verify};
use rumpsteak_oracle::{Global, Mutation, Shape, mutate};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;

/// How many actions a role that never ends performs before the play is over.
const ACTIONS: u64 = 400;

/// How many sessions a role plays that ends.
const SESSIONS: u64 = 12;

/// A message: the sender's transition, and the number of the message in its queue.
struct Note {
    label: String,
    number: u64,
    /// Alive as long as the message.
    _alive: Arc<()>,
}

/// A role, with both ends that it has of each route.
struct Player {
    machine: Fsm,
    to: HashMap<Role, (QueueSender<Note>, u64)>,
    from: HashMap<Role, (QueueReceiver<Note>, u64)>,
    rng: Rng,
    stop: Arc<AtomicBool>,
    alive: Arc<()>,
    actions: Arc<AtomicU64>,
}

/// How a role ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// After all its sessions.
    Complete,
    /// In the middle, because the play is over.
    Stopped,
    /// In the middle, because a peer is gone.
    Left,
}

impl Player {
    async fn play(mut self) -> Ended {
        let initial = self.machine.initial();
        for _ in 0..SESSIONS {
            let mut state = initial;
            while !self.machine.is_terminal(state) {
                if self.stop.load(Ordering::Relaxed) {
                    return Ended::Stopped;
                }
                if self.rng.usize(..100) < 10 {
                    yield_now().await;
                }
                let ways: Vec<_> = self.machine.transitions_from(state).collect();
                let first = &ways[0].action;
                state = match first.direction {
                    // Decides first and waits for room then, as a process does.
                    Direction::Send => {
                        let way = self.rng.choice(&ways).unwrap();
                        let (sender, sent) = self.to.get_mut(&way.action.peer).unwrap();
                        let note = Note {
                            label: way.action.message.to_string(),
                            number: *sent,
                            _alive: Arc::clone(&self.alive),
                        };
                        if sender.send(note).await.is_err() {
                            return Ended::Left;
                        }
                        *sent += 1;
                        way.target
                    }
                    Direction::Receive => {
                        let (receiver, received) = self.from.get_mut(&first.peer).unwrap();
                        let Some(note) = receiver.next().await else {
                            return Ended::Left;
                        };
                        assert_eq!(note.number, *received, "lost, doubled or out of order");
                        *received += 1;
                        let way =
                            ways.iter().find(|way| way.action.message.to_string() == note.label);
                        way.expect("a message that the protocol allows").target
                    }
                };
                if self.actions.fetch_add(1, Ordering::Relaxed) > ACTIONS * 4 {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        Ended::Complete
    }
}

/// A random system: the projections of a random protocol that is safe, some of them reordered.
fn system(rng: &mut Rng) -> Option<System> {
    let shape = Shape::random(rng);
    let protocol = Global::random(rng, &shape);
    let projections: Vec<Fsm> =
        (0..shape.roles).map(|role| protocol.project(role)).collect::<Option<_>>()?;
    let limits = Limits::default().anticipation(16).configurations(1_000).steps(2_000);
    // The generator leaves it to others to find out whether a protocol makes sense.
    let projected = System::new(projections.clone()).ok()?;
    let few = Limits::default().configurations(1_000).queue(4);
    if !matches!(kmc::check(&projected, &few).verdict, kmc::Verdict::Safe(_)) {
        return None;
    }
    let mut machines = projections.clone();
    for (role, machine) in machines.iter_mut().enumerate() {
        let others = projections.iter().enumerate();
        let peers: Vec<Fsm> =
            others.filter(|(other, _)| *other != role).map(|(_, peer)| peer.clone()).collect();
        for _ in 0..rng.usize(..4) {
            let mutation = Mutation::gentle(rng);
            if let Some(rewritten) = mutate(machine, mutation, rng)
                && verify(&rewritten, &projections[role], &peers, &limits)
                    .is_ok_and(|verdict| verdict.is_safe())
            {
                *machine = rewritten;
            }
        }
    }
    let directed = |machine: &Fsm| {
        machine.states().all(|state| {
            let mut ways = machine.transitions_from(state);
            let first = ways.next();
            ways.all(|way| {
                first.as_ref().is_some_and(|first| {
                    (first.action.direction, &first.action.peer)
                        == (way.action.direction, &way.action.peer)
                })
            })
        })
    };
    // What a session type can say: one peer in each state.
    if !machines.iter().all(directed) {
        return None;
    }
    System::new(machines).ok()
}

/// As the build script chooses them, or as small as can be.
fn capacities(found: &Capacities, tight: bool) -> HashMap<(Role, Role), Capacity> {
    let choose = |channel: &capacity::ChannelCapacity| match channel.occupancy {
        Occupancy::AtMost(0) => Capacity::AtMost(0),
        _ if tight && found.is_minimal => Capacity::Waits(channel.capacity),
        Occupancy::AtMost(most) => Capacity::AtMost(most),
        Occupancy::Unbounded if found.is_minimal => Capacity::Waits(channel.capacity.max(16)),
        Occupancy::Unbounded | Occupancy::Unknown(_) => Capacity::Growable,
    };
    found
        .channels
        .iter()
        .map(|channel| ((channel.from.clone(), channel.to.clone()), choose(channel)))
        .collect()
}

/// The numbers of systems that were played, by outcome.
#[derive(Debug, Default)]
struct Tally {
    systems: u64,
    cancelled: u64,
    complete: u64,
    actions: u64,
    waiting: u64,
    growing: u64,
    bounded: u64,
}

async fn play(system: &System, seed: u64, rng: &mut Rng, tally: &mut Tally) {
    let limits = Limits::default().configurations(2_000);
    let repeated = capacity::repeated(system);
    let tight = rng.bool();
    let capacities = match capacity::find(&repeated, &limits) {
        Ok(found) => capacities(&found, tight),
        // Not decided within the limits, or somebody may wait for ever.
        Err(_) => HashMap::new(),
    };
    for capacity in capacities.values() {
        match capacity {
            Capacity::AtMost(_) => tally.bounded += 1,
            Capacity::Growable => tally.growing += 1,
            _ => tally.waiting += 1,
        }
    }
    let (stop, alive) = (Arc::new(AtomicBool::new(false)), Arc::new(()));
    let actions = Arc::new(AtomicU64::new(0));
    let mut players: Vec<Player> = system
        .machines()
        .iter()
        .map(|machine| Player {
            machine: machine.clone(),
            to: HashMap::new(),
            from: HashMap::new(),
            rng: Rng::with_seed(rng.u64(..)),
            stop: Arc::clone(&stop),
            alive: Arc::clone(&alive),
            actions: Arc::clone(&actions),
        })
        .collect();
    for near in 0..players.len() {
        for far in near + 1..players.len() {
            let roles = [near, far].map(|index| players[index].machine.role().clone());
            let [one, other] = roles;
            let of = |from: &Role, to: &Role| {
                let key = (from.clone(), to.clone());
                capacities.get(&key).copied().unwrap_or(Capacity::Growable)
            };
            let (left, right) = Channel::with_capacities(of(&one, &other), of(&other, &one));
            let ((tx, rx), (far_tx, far_rx)) = left.into_inner().zip(right.into_inner()).unwrap();
            players[near].to.insert(other.clone(), (tx, 0));
            players[near].from.insert(other, (rx, 0));
            players[far].to.insert(one.clone(), (far_tx, 0));
            players[far].from.insert(one, (far_rx, 0));
        }
    }
    let count = players.len();
    let handles: Vec<JoinHandle<Ended>> =
        players.into_iter().map(|player| tokio::spawn(player.play())).collect();
    let victim = (rng.usize(..100) < 40).then(|| rng.usize(..count));
    if let Some(victim) = victim {
        tally.cancelled += 1;
        for _ in 0..rng.usize(..60) {
            yield_now().await;
        }
        handles[victim].abort();
    }
    let mut ended = vec![];
    for (index, handle) in handles.into_iter().enumerate() {
        let result = timeout(Duration::from_secs(60), handle).await.unwrap_or_else(|_| {
            panic!("seed {seed}: role {index} hangs; {capacities:?}\n{:?}", system.machines())
        });
        match result {
            Ok(how) => ended.push(how),
            Err(error) if error.is_cancelled() => assert_eq!(victim, Some(index), "seed {seed}"),
            Err(error) => panic!(
                "seed {seed}: role {index}: {error}; {capacities:?}\n{:?}",
                system.machines()
            ),
        }
    }
    // Whoever left did so because somebody else was cancelled or stopped.
    let is_left = ended.contains(&Ended::Left);
    let has_reason = victim.is_some() || ended.contains(&Ended::Stopped);
    assert!(!is_left || has_reason, "seed {seed}: {ended:?}");
    if ended.len() == count && ended.iter().all(|how| *how == Ended::Complete) {
        tally.complete += 1;
    }
    assert_eq!(Arc::strong_count(&alive), 1, "seed {seed}: a message is left");
    tally.systems += 1;
    tally.actions += actions.load(Ordering::Relaxed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_protocols_under_random_cancellation() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let seconds = number("RUMPSTEAK_SOAK").unwrap_or(2);
    let first = number("RUMPSTEAK_SOAK_SEED").unwrap_or(0);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut tally = Tally::default();
    for seed in first.. {
        // However slow the machine is, some are played.
        if Instant::now() >= until && tally.systems >= 10 {
            break;
        }
        let mut rng = Rng::with_seed(seed);
        if let Some(system) = system(&mut rng) {
            play(&system, seed, &mut rng, &mut tally).await;
        }
    }
    println!("{tally:?}");
    assert!(tally.complete > 0, "{tally:?}");
}
