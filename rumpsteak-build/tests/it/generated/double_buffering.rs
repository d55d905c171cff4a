#[rumpsteak::protocol(DoubleBuffering)]
#[allow(clippy::enum_variant_names, clippy::struct_field_names, reason = "the protocol gives the names")]
pub mod double_buffering {
    /// The roles of the protocol `DoubleBuffering`, wired to each other.
    ///
    /// ```scribble
    /// global protocol DoubleBuffering(role s, role k, role t) {
    ///   rec loop {
    ///     ready() from k to s;
    ///     value(i32) from s to k;
    ///     ready() from t to k;
    ///     value(i32) from k to t;
    ///     continue loop;
    ///   }
    /// }
    /// ```
    #[derive(Roles)]
    pub struct Roles {
        /// The role `s`.
        pub s: S,
        /// The role `k`.
        pub k: K,
        /// The role `t`.
        pub t: T,
    }

    /// The role `s`, which talks to `k`.
    #[derive(Role)]
    #[message(Label)]
    pub struct S {
        /// The route to `k`.
        #[route(K)]
        pub k: Channel<Label>,
    }

    /// The role `k`, which talks to `s` and `t`.
    #[derive(Role)]
    #[message(Label)]
    pub struct K {
        /// The route to `s`.
        #[route(S)]
        pub s: Channel<Label>,
        /// The route to `t`.
        #[route(T)]
        pub t: Channel<Label>,
    }

    /// The role `t`, which talks to `k`.
    #[derive(Role)]
    #[message(Label)]
    pub struct T {
        /// The route to `k`.
        #[route(K)]
        pub k: Channel<Label>,
    }

    /// The messages of the protocol `DoubleBuffering`.
    #[derive(Debug, Message)]
    pub enum Label {
        /// `ready`, from `k` to `s` and from `t` to `k`.
        Ready(Ready),
        /// `value(i32)`, from `s` to `k` and from `k` to `t`.
        Value(Value),
    }

    /// The message `ready`.
    #[derive(Debug)]
    pub struct Ready;

    /// The message `value(i32)`.
    #[derive(Debug)]
    pub struct Value(pub i32);

    /// The session of [`S`], in the order of the protocol.
    #[session(S)]
    pub struct SSession(Receive<K, Ready, Send<K, Value, Self>>);

    /// The session of [`K`], in the order of `double_buffering.k.dot`.
    #[session(K)]
    pub type KSession = Send<S, Ready, KReadyLoop>;

    /// A part of [`KSession`].
    #[session]
    pub struct KReadyLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);

    /// The session of [`T`], in the order of the protocol.
    #[session(T)]
    pub struct TSession(Send<K, Ready, Receive<K, Value, Self>>);
}
