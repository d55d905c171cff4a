//! Streaming in all three workflows.

pub mod top_down {
    #[rumpsteak::protocol(Streaming)]
    pub mod streaming {}
    use streaming::*;
    include!("processes/streaming.rs");
}

pub mod hybrid {
    #[rumpsteak::protocol(Streaming)]
    pub mod streaming {
        #[session(S)]
        type SSession = Receive<T, Ready, Select<T, SChoice>>;

        enum SChoice {
            Value(Value, SSession),
            Stop(Stop, End),
        }

        #[session(T)]
        type TSession = Send<S, Ready, Branch<S, TValueChoice>>;

        enum TValueChoice {
            Value(Value, TSession),
            Stop(Stop, End),
        }
    }
    use streaming::*;
    include!("processes/streaming.rs");
}

pub mod bottom_up {
    #[rumpsteak::closed_system]
    pub mod streaming {
        struct Ready;
        struct Value(i32);
        struct Stop;

        #[session(S)]
        type SSession = Receive<T, Ready, Select<T, SChoice>>;

        enum SChoice {
            Value(Value, SSession),
            Stop(Stop, End),
        }

        #[session(T)]
        type TSession = Send<S, Ready, Branch<S, TValueChoice>>;

        enum TValueChoice {
            Value(Value, TSession),
            Stop(Stop, End),
        }
    }
    use streaming::*;
    include!("processes/streaming.rs");
}
