// The processes of the elevator, the same in all workflows.

use std::convert::Infallible;

use rumpsteak::{Ended, Result};
use tokio::sync::oneshot;

async fn user(mut s: UserSession<'_>, done: oneshot::Sender<i32>) -> Ended<'_, User, Infallible> {
    let mut opened = 0;
    for again in [2, 1] {
        // Stops the closing door so many times.
        let mut rest = s.send(OpenDoor).await?;
        let mut left = again;
        s = loop {
            let (DoorOpened, next) = rest.receive().await?;
            opened += 1;
            let (Closing, next) = next.send(CloseDoor).await?.receive().await?;
            if left == 0 {
                break next.select(Stay).await?;
            }
            left -= 1;
            rest = next.select(OpenDoor).await?;
        };
    }
    let _ = done.send(opened);
    std::future::pending().await
}

async fn elevator(mut s: ElevatorSession<'_>) -> Ended<'_, Elevator, Infallible> {
    loop {
        let (OpenDoor, mut rest) = s.receive().await?;
        s = loop {
            let (DoorOpened, next) = rest.send(Open).await?.receive().await?;
            let (CloseDoor, next) = next.send(DoorOpened).await?.receive().await?;
            let (Closing, next) = next.send(Close).await?.receive().await?;
            match next.send(Closing).await?.branch().await? {
                ElevatorOpenDoorChoice::OpenDoor(OpenDoor, next) => {
                    let (DoorStopped, next) = next.send(Stop).await?.receive().await?;
                    rest = next;
                }
                ElevatorOpenDoorChoice::Stay(Stay, next) => {
                    let (DoorClosed, next) = next.send(Finish).await?.receive().await?;
                    break next;
                }
            }
        };
    }
}

async fn door(mut s: DoorSession<'_>) -> Ended<'_, Door, Infallible> {
    loop {
        let (Open, next) = s.receive().await?;
        let (Close, next) = next.send(DoorOpened).await?.receive().await?;
        s = match next.send(Closing).await?.branch().await? {
            DoorStopChoice::Stop(Stop, next) => next.send(DoorStopped).await?,
            DoorStopChoice::Finish(Finish, next) => next.send(DoorClosed).await?,
        };
    }
}

/// How many times the door opens: three times at the first floor, twice at the second.
pub async fn run() -> Result<i32> {
    let (done, finished) = oneshot::channel();
    let mut roles = Roles::default();
    tokio::select! {
        stopped = roles.run(|session| user(session, done), elevator, door) => match stopped?.0 {},
        Ok(opened) = finished => Ok(opened),
    }
}
