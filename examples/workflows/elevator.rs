//! The elevator in all three workflows.

pub mod top_down {
    #[rumpsteak::protocol(Elevator)]
    pub mod elevator {}
    use elevator::*;
    include!("processes/elevator.rs");
}

pub mod hybrid {
    #[rumpsteak::protocol(Elevator)]
    pub mod elevator {
        #[session(User)]
        type UserSession = Send<Elevator, OpenDoor, UserRest>;

        type UserRest = Receive<
            Elevator,
            DoorOpened,
            Send<Elevator, CloseDoor, Receive<Elevator, Closing, Select<Elevator, UserChoice>>>,
        >;

        enum UserChoice {
            OpenDoor(OpenDoor, UserRest),
            Stay(Stay, UserSession),
        }

        #[session(Elevator)]
        type ElevatorSession = Receive<User, OpenDoor, ElevatorRest>;

        type ElevatorRest = Send<
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
                                Send<User, Closing, Branch<User, ElevatorOpenDoorChoice>>,
                            >,
                        >,
                    >,
                >,
            >,
        >;

        enum ElevatorOpenDoorChoice {
            OpenDoor(OpenDoor, Send<Door, Stop, Receive<Door, DoorStopped, ElevatorRest>>),
            Stay(Stay, Send<Door, Finish, Receive<Door, DoorClosed, ElevatorSession>>),
        }

        #[session(Door)]
        type DoorSession = Receive<
            Elevator,
            Open,
            Send<
                Elevator,
                DoorOpened,
                Receive<Elevator, Close, Send<Elevator, Closing, Branch<Elevator, DoorStopChoice>>>,
            >,
        >;

        enum DoorStopChoice {
            Stop(Stop, Send<Elevator, DoorStopped, DoorSession>),
            Finish(Finish, Send<Elevator, DoorClosed, DoorSession>),
        }
    }
    use elevator::*;
    include!("processes/elevator.rs");
}

pub mod bottom_up {
    #[rumpsteak::closed_system]
    pub mod elevator {
        struct OpenDoor;
        struct Open;
        struct DoorOpened;
        struct CloseDoor;
        struct Close;
        struct Closing;
        struct Stop;
        struct DoorStopped;
        struct Stay;
        struct Finish;
        struct DoorClosed;

        #[session(User)]
        type UserSession = Send<Elevator, OpenDoor, UserRest>;

        type UserRest = Receive<
            Elevator,
            DoorOpened,
            Send<Elevator, CloseDoor, Receive<Elevator, Closing, Select<Elevator, UserChoice>>>,
        >;

        enum UserChoice {
            OpenDoor(OpenDoor, UserRest),
            Stay(Stay, UserSession),
        }

        #[session(Elevator)]
        type ElevatorSession = Receive<User, OpenDoor, ElevatorRest>;

        type ElevatorRest = Send<
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
                                Send<User, Closing, Branch<User, ElevatorOpenDoorChoice>>,
                            >,
                        >,
                    >,
                >,
            >,
        >;

        enum ElevatorOpenDoorChoice {
            OpenDoor(OpenDoor, Send<Door, Stop, Receive<Door, DoorStopped, ElevatorRest>>),
            Stay(Stay, Send<Door, Finish, Receive<Door, DoorClosed, ElevatorSession>>),
        }

        #[session(Door)]
        type DoorSession = Receive<
            Elevator,
            Open,
            Send<
                Elevator,
                DoorOpened,
                Receive<Elevator, Close, Send<Elevator, Closing, Branch<Elevator, DoorStopChoice>>>,
            >,
        >;

        enum DoorStopChoice {
            Stop(Stop, Send<Elevator, DoorStopped, DoorSession>),
            Finish(Finish, Send<Elevator, DoorClosed, DoorSession>),
        }
    }
    use elevator::*;
    include!("processes/elevator.rs");
}
