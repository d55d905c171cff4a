//! Members of a family in processes of their own.

use futures::FutureExt as _;
use rumpsteak::{Ended, try_run};
use rumpsteak_net::{Host, NetError};

#[rumpsteak::protocol(
    Farm,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod farm {}
use farm::*;

async fn master(s: MSession<'_>) -> Ended<'_, M, Vec<u32>> {
    let s = s.send_each(|index| Job(index as u32)).await?;
    let mut all = vec![0; 3];
    s.receive_each(|index, Done(number)| all[index] = number).await?.end(all)
}

async fn worker(s: WorkerSession<'_>) -> Ended<'_, Worker> {
    let (Job(number), s) = s.receive().await?;
    s.send(Done(number * 10)).await?.end(())
}

#[tokio::test]
async fn members_are_told_apart_by_their_indices() {
    let (here, there) = (Host::new(), Host::new());
    let at = here.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    let member = |host: &Host, index| {
        let join = host.join::<Worker>("1").members("worker", 3).member(index);
        if index == 1 { join } else { join.peer("m", [&at]) }
    };
    // One of them is where the master is.
    let m = here.join::<M>("1").members("worker", 3);
    let joined = tokio::join!(
        m.connect(),
        member(&there, 2).connect(),
        member(&here, 1).connect(),
        member(&there, 0).connect(),
    );
    let (m, two, one, zero) = (joined.0, joined.1, joined.2, joined.3);
    let played = tokio::join!(
        m.unwrap().play(async |m: &mut M| try_run(m, master).await),
        two.unwrap().play(async |role: &mut Worker| try_run(role, worker).await),
        one.unwrap().play(async |role: &mut Worker| try_run(role, worker).await),
        zero.unwrap().play(async |role: &mut Worker| try_run(role, worker).await),
    );
    assert_eq!(played.0.unwrap(), [0, 10, 20]);
    assert!(played.1.is_ok() && played.2.is_ok() && played.3.is_ok());
}

#[tokio::test]
async fn ends_compare_the_number_of_members() {
    let (here, there) = (Host::new(), Host::new());
    let at = here.listen("tcp://127.0.0.1:0").await.unwrap().to_string();
    for (session, host) in [("1", &here), ("2", &there)] {
        let m = here.join::<M>(session).members("worker", 2).connect();
        let member = host.join::<Worker>(session).members("worker", 3).member(1);
        let member = if session == "1" { member } else { member.peer("m", [&at]) };
        let refused = tokio::select! {
            m = m => m.map(drop),
            member = member.connect() => member.map(drop),
        };
        let refused = refused.unwrap_err().to_string();
        let both = ["2 members, for the other 3", "3 members, for the other 2"];
        assert!(both.iter().any(|both| refused.ends_with(both)), "{refused}");
    }
}

#[test]
fn a_set_runs_all_its_members_in_their_places_or_nothing() {
    let run = |roles: &mut Roles| {
        let ran = roles.run(master, |_, s| worker(s)).now_or_never();
        ran.expect("a hang").map(|(all, _)| all).map_err(|error| error.to_string())
    };
    let route = "`m` cannot begin a session: the protocol or the set of roles has";
    let number =
        |members| format!("{route} {members} members of `worker`, and its route leads to 3");
    let misplaced = "`worker` cannot begin a session: its route to `M` belongs to another";
    let [mut roles, mut other] = [3, 2].map(Roles::sized);
    let last = roles.worker.pop().unwrap();
    assert_eq!(run(&mut roles), Err(number(2)));
    let mut others = std::mem::take(&mut roles.worker);
    assert_eq!(run(&mut roles), Err(number(0)));
    // A member of another set, and the other set without it.
    roles.worker.append(&mut others);
    roles.worker.push(other.worker.pop().unwrap());
    assert_eq!(run(&mut roles), Err(format!("{misplaced} set of roles")));
    assert_eq!(run(&mut other), Err(number(1).replace('3', "2")));
    other.worker.push(std::mem::replace(&mut roles.worker[2], last));
    roles.worker.swap(0, 2);
    assert_eq!(run(&mut roles), Err(format!("{misplaced} member of `worker`")));
    // Nothing has begun, so no role is poisoned.
    roles.worker.swap(0, 2);
    assert_eq!(run(&mut roles), Ok(vec![0, 10, 20]));
    // The first member is missing.
    other.worker.remove(0);
    assert_eq!(run(&mut other), Err(number(1).replace('3', "2")));
    other.reset();
    assert_eq!((run(&mut other), other.worker.len()), (Ok(vec![0; 3]), 1));
}

#[tokio::test]
async fn what_is_missing_is_an_error_at_once() {
    let host = Host::new();
    let farm = || host.join::<M>("1");
    let own = || host.join::<Worker>("1");
    for joined in [
        farm().connect().await.map(drop),
        farm().members("worker", 0).connect().await.map(drop),
        own().connect().await.map(drop),
        own().member(0).connect().await.map(drop),
        own().member(2).members("worker", 2).connect().await.map(drop),
        farm().member(0).connect().await.map(drop),
    ] {
        assert!(matches!(joined, Err(NetError::Family { .. })), "{joined:?}");
    }
}

#[rumpsteak::protocol(
    Fixed,
    routes = rumpsteak_net::Net,
    derive(serde::Serialize, serde::Deserialize)
)]
mod fixed {
    use rumpsteak::Ended;

    pub(crate) async fn tell(s: MSession<'_>) -> Ended<'_, M> {
        s.send_each(|_| Job(1)).await?.end(())
    }

    pub(crate) async fn work(s: WorkerSession<'_>) -> Ended<'_, Worker> {
        s.receive().await?.1.end(())
    }
}

#[tokio::test]
async fn another_number_than_the_fixed_one_is_an_error_before_the_first_message() {
    let host = Host::new();
    let m = host.join::<fixed::M>("1").members("worker", 1).connect();
    let worker = host.join::<fixed::Worker>("1").members("worker", 1).member(0).connect();
    let (m, worker) = tokio::try_join!(m, worker).unwrap();
    let played = tokio::join!(
        m.play(async |m: &mut fixed::M| try_run(m, fixed::tell).await),
        worker.play(async |role: &mut fixed::Worker| try_run(role, fixed::work).await),
    );
    assert_eq!(
        played.0.unwrap_err().to_string(),
        "`m` cannot begin a session: the protocol or the set of roles has 2 members of `worker`, and its route leads to 1"
    );
    assert!(played.1.is_err());
}
