//! The roles and sessions of `protocols/elevator.scr`, by hand: the build compares them with the
//! protocol.

use rumpsteak_runtime::{Channel, Message, Role, Roles, session};

#[derive(Roles)]
pub struct Roles {
    pub user: User,
    pub elevator: Elevator,
    pub door: Door,
}

#[derive(Role)]
#[protocol(Elevator::user)]
#[message(Label)]
pub struct User {
    #[route(Elevator)]
    elevator: Channel<Label>,
}

#[derive(Role)]
#[protocol(Elevator::elevator)]
#[message(Label)]
pub struct Elevator {
    #[route(User)]
    user: Channel<Label>,
    #[route(Door)]
    door: Channel<Label>,
}

#[derive(Role)]
#[protocol(Elevator::door)]
#[message(Label)]
pub struct Door {
    #[route(Elevator)]
    elevator: Channel<Label>,
}

#[derive(Debug, Message)]
pub enum Label {
    OpenDoor(OpenDoor),
    Open(Open),
    DoorOpened(DoorOpened),
    CloseDoor(CloseDoor),
    Close(Close),
    Closing(Closing),
    Stop(Stop),
    DoorStopped(DoorStopped),
    Stay(Stay),
    Finish(Finish),
    DoorClosed(DoorClosed),
}

#[derive(Debug)]
pub struct OpenDoor;

#[derive(Debug)]
pub struct Open;

#[derive(Debug)]
pub struct DoorOpened;

#[derive(Debug)]
pub struct CloseDoor;

#[derive(Debug)]
pub struct Close;

#[derive(Debug)]
pub struct Closing;

#[derive(Debug)]
pub struct Stop;

#[derive(Debug)]
pub struct DoorStopped;

#[derive(Debug)]
pub struct Stay;

#[derive(Debug)]
pub struct Finish;

#[derive(Debug)]
pub struct DoorClosed;

#[session(User)]
pub type UserSession = Send<Elevator, OpenDoor, UserRest>;

#[session]
pub type UserRest = Receive<
    Elevator,
    DoorOpened,
    Send<Elevator, CloseDoor, Receive<Elevator, Closing, Select<Elevator, UserChoice>>>,
>;

#[session]
pub enum UserChoice {
    OpenDoor(OpenDoor, UserRest),
    Stay(Stay, UserSession),
}

#[session(Elevator)]
pub type ElevatorSession = Receive<User, OpenDoor, ElevatorRest>;

#[session]
pub type ElevatorRest = Send<
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
                    Receive<
                        Door,
                        Closing,
                        Send<User, Closing, Branch<User, ElevatorOpenDoorOrStay>>,
                    >,
                >,
            >,
        >,
    >,
>;

#[session]
pub enum ElevatorOpenDoorOrStay {
    OpenDoor(OpenDoor, Send<Door, Stop, Receive<Door, DoorStopped, ElevatorRest>>),
    Stay(Stay, Send<Door, Finish, Receive<Door, DoorClosed, ElevatorSession>>),
}

#[session(Door)]
pub type DoorSession = Receive<
    Elevator,
    Open,
    Send<
        Elevator,
        DoorOpened,
        Receive<Elevator, Close, Send<Elevator, Closing, Branch<Elevator, DoorStopOrFinish>>>,
    >,
>;

#[session]
pub enum DoorStopOrFinish {
    Stop(Stop, Send<Elevator, DoorStopped, DoorSession>),
    Finish(Finish, Send<Elevator, DoorClosed, DoorSession>),
}

include!("../processes/elevator.rs");
