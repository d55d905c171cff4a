// The processes of the elevator, the same in all workflows.

use std::convert::Infallible;

use rumpsteak_runtime::{Result, try_run};
use tokio::sync::oneshot;

async fn user(role: &mut User, done: oneshot::Sender<i32>) -> Result<Infallible> {
    try_run(role, async |mut s: UserSession<'_>| {
        let mut opened = 0;
        for again in [2, 1] {
            // Has the closing door stopped so many times.
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
    })
    .await
}

async fn elevator(role: &mut Elevator) -> Result<Infallible> {
    try_run(role, async |mut s: ElevatorSession<'_>| {
        loop {
            let (OpenDoor, mut rest) = s.receive().await?;
            s = loop {
                let (DoorOpened, next) = rest.send(Open).await?.receive().await?;
                let (CloseDoor, next) = next.send(DoorOpened).await?.receive().await?;
                let (Closing, next) = next.send(Close).await?.receive().await?;
                match next.send(Closing).await?.branch().await? {
                    ElevatorOpenDoorOrStay::OpenDoor(OpenDoor, next) => {
                        let (DoorStopped, next) = next.send(Stop).await?.receive().await?;
                        rest = next;
                    }
                    ElevatorOpenDoorOrStay::Stay(Stay, next) => {
                        let (DoorClosed, next) = next.send(Finish).await?.receive().await?;
                        break next;
                    }
                }
            };
        }
    })
    .await
}

async fn door(role: &mut Door) -> Result<Infallible> {
    try_run(role, async |mut s: DoorSession<'_>| {
        loop {
            let (Open, next) = s.receive().await?;
            let (Close, next) = next.send(DoorOpened).await?.receive().await?;
            s = match next.send(Closing).await?.branch().await? {
                DoorStopOrFinish::Stop(Stop, next) => next.send(DoorStopped).await?,
                DoorStopOrFinish::Finish(Finish, next) => next.send(DoorClosed).await?,
            };
        }
    })
    .await
}

/// How many times the door opens: three times at the first floor, twice at the second.
pub async fn run() -> Result<i32> {
    let mut roles = Roles::default();
    let (done, finished) = oneshot::channel();
    let all = async {
        tokio::try_join!(
            user(&mut roles.user, done),
            elevator(&mut roles.elevator),
            door(&mut roles.door),
        )
    };
    tokio::select! {
        stopped = all => match stopped?.0 {},
        Ok(opened) = finished => Ok(opened),
    }
}
