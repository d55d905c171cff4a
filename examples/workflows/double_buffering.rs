//! Double buffering in all three workflows.

pub mod top_down {
    #[rumpsteak::protocol(DoubleBuffering)]
    pub mod double_buffering {}
    use double_buffering::*;
    include!("processes/double_buffering.rs");
}

pub mod hybrid {
    #[rumpsteak::protocol(DoubleBuffering)]
    pub mod double_buffering {
        #[session(S)]
        struct SSession(Receive<K, Ready, Send<K, Value, Self>>);

        #[session(K)]
        type KSession = Send<S, Ready, KLoop>;

        struct KLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

        #[session(T)]
        struct TSession(Send<K, Ready, Receive<K, Value, Self>>);
    }
    use double_buffering::*;
    include!("processes/double_buffering.rs");
}

pub mod bottom_up {
    #[rumpsteak::closed_system]
    pub mod double_buffering {
        struct Ready;
        struct Value(i32);

        #[session(S)]
        struct SSession(Receive<K, Ready, Send<K, Value, Self>>);

        #[session(K)]
        type KSession = Send<S, Ready, KLoop>;

        struct KLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

        #[session(T)]
        struct TSession(Send<K, Ready, Receive<K, Value, Self>>);
    }
    use double_buffering::*;
    include!("processes/double_buffering.rs");
}
