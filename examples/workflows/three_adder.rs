//! The three adder in all three workflows.

pub mod top_down {
    #[rumpsteak::protocol(ThreeAdder)]
    pub mod three_adder {}
    use three_adder::*;
    include!("processes/three_adder.rs");
}

pub mod hybrid {
    #[rumpsteak::protocol(ThreeAdder)]
    pub mod three_adder {
        #[session(A)]
        type ASession = Send<B, Add, Receive<B, Add, Send<C, Add, Receive<C, Sum, End>>>>;

        #[session(B)]
        type BSession = Receive<A, Add, Send<A, Add, Send<C, Add, Receive<C, Sum, End>>>>;

        #[session(C)]
        type CSession = Receive<A, Add, Receive<B, Add, Send<A, Sum, Send<B, Sum, End>>>>;
    }
    use three_adder::*;
    include!("processes/three_adder.rs");
}

pub mod bottom_up {
    #[rumpsteak::closed_system]
    pub mod three_adder {
        struct Add(i32);
        struct Sum(i32);

        #[session(A)]
        type ASession = Send<B, Add, Receive<B, Add, Send<C, Add, Receive<C, Sum, End>>>>;

        #[session(B)]
        type BSession = Receive<A, Add, Send<A, Add, Send<C, Add, Receive<C, Sum, End>>>>;

        #[session(C)]
        type CSession = Receive<A, Add, Receive<B, Add, Send<A, Sum, Send<B, Sum, End>>>>;
    }
    use three_adder::*;
    include!("processes/three_adder.rs");
}
