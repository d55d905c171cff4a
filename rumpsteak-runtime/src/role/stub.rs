//! What stands in for an item with an error: it fits wherever the item would, so that rustc does
//! not follow up that error with others. Macros emit it beside a `compile_error!`, and only there:
//! nothing of it ever runs.

use std::task::{Context, Poll};

use crate::transport::{Bidirectional, Incoming, Link, Mark, Movable, Outgoing, Pair, RouteError};

/// What stands in for the words of a session in a type without `#[session]`.
pub mod unmarked {
    use std::marker::PhantomData;

    /// To rustc, `Send` would be the trait.
    #[derive(Debug)]
    pub struct Send<P, L = (), C = ()>(PhantomData<(P, L, C)>);
}

/// What stands in for the attributes of a role in a struct without `#[derive(Role)]`.
pub mod underived {
    pub use rumpsteak_runtime_macros::{
        __underived as message, __underived as protocol, __underived as role,
    };
}

/// The route of a role with an error to whatever peer, as there is none.
#[derive(Debug)]
pub enum NoRoute {}

impl Link for NoRoute {
    fn mark(&self) -> &Mark {
        match *self {}
    }

    fn close(&mut self) {
        match *self {}
    }
}

impl Movable for NoRoute {
    fn take(&mut self) -> Self {
        match *self {}
    }
}

#[diagnostic::do_not_recommend]
impl<M> Outgoing<M> for NoRoute {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
        match *self {}
    }

    fn start_send(&mut self, _: M) -> Result<(), RouteError> {
        match *self {}
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RouteError>> {
        match *self {}
    }
}

#[diagnostic::do_not_recommend]
impl<M> Incoming<M> for NoRoute {
    fn poll_receive(&mut self, _: &mut Context<'_>) -> Poll<Result<M, RouteError>> {
        match *self {}
    }
}

#[diagnostic::do_not_recommend]
impl<Tx, Rx> Pair<NoRoute> for Bidirectional<Tx, Rx> {
    fn pair() -> (Self, NoRoute) {
        unreachable!()
    }
}

/// The implementations of a role or of a message type.
#[doc(hidden)]
#[macro_export]
macro_rules! __stub {
    // Of names that the module lacks.
    (import $($($name:ident)::+)*) => {
        #[allow(unused_imports, reason = "it may be used where a `cfg` hides it")]
        use $crate::{$($($name)::+),*};
    };
    // Of the struct of a label.
    (label $label:item) => {
        #[allow(dead_code, reason = "the program may use it where a `cfg` hides that")]
        $label
    };
    // Of a role or a module, for which its macro puts another one.
    (instead $($other:tt)*) => {};
    // Of a session or the code of a protocol, which its macro leaves out.
    (nothing) => {};
    // The same beside a type without `#[session]`: `Send` is the only word in it that rustc knows.
    (unmarked) => {
        #[allow(unused_imports, reason = "what lacks its attribute may be in another module")]
        use $crate::private::unmarked::*;
    };
    // Of a struct without `#[derive(Role)]`, whose other attributes rustc does not know then.
    (plain $role:ty, $message:ty) => {
        #[allow(unused_imports, reason = "the struct may be in another module, or have none")]
        use $crate::private::underived::*;

        $crate::private::stub!(role $role, $message);
    };
    (role $role:ty, $message:ty) => {
        $crate::private::stub!(role $role, $message, $crate::private::Played::STUB);
    };
    (role $role:ty, $message:ty, $played:expr) => {
        impl $crate::Role for $role {
            const PLAYED: $crate::private::ByMacro<$crate::private::Played> =
                $crate::private::ByMacro($played);

            type Message = $message;
        }

        impl $crate::private::Participant for $role {
            const ROUTES: usize = 0;

            const ONCE: ::core::option::Option<&'static str> = ::core::option::Option::None;

            fn for_each_mark<'a>(
                &'a self,
                _: impl ::core::ops::FnMut(&'static str, &'a $crate::transport::Mark),
            ) {
            }

            fn poll_begin(&mut self, _: &::core::task::Waker) -> ::core::task::Poll<()> {
                ::core::task::Poll::Ready(())
            }

            fn complete(&mut self) {}

            fn close(&mut self) {}
        }

        impl<__P> $crate::transport::Route<__P> for $role {
            type Link = $crate::private::NoRoute;

            const CAPACITY: $crate::private::ByMacro<$crate::channel::Capacity> =
                $crate::private::ByMacro($crate::channel::Capacity::Growable);

            fn route(&mut self) -> &mut Self::Link {
                ::core::unreachable!()
            }
        }

        impl<__Set> $crate::private::wiring::Wire<__Set> for $role {
            fn wire(_: &mut $crate::private::wiring::Wiring<'_>) -> Self {
                ::core::unreachable!()
            }
        }
    };
    (message $message:ty) => {
        impl $crate::transport::Labelled for $message {
            fn labelled(&self) -> $crate::private::Label {
                $crate::private::Label::STUB
            }
        }

        impl<__L> $crate::Message<__L> for $message {
            const LABEL: $crate::private::ByMacro<$crate::private::Label> =
                $crate::private::ByMacro($crate::private::Label::STUB);

            fn upcast(_: __L) -> Self {
                ::core::unreachable!()
            }

            fn downcast(self) -> ::core::result::Result<__L, Self> {
                ::core::result::Result::Err(self)
            }
        }
    };
}
