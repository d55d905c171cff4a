//! Stubs for items with an error, so that one mistake is one error of rustc. The macro emits them
//! only beside a `compile_error!`, so they never run.

use std::task::{Context, Poll};

use crate::transport::{Bidirectional, Incoming, Link, Mark, Movable, Outgoing, Pair, RouteError};

/// The route of a stub role to any peer. It has no value.
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

/// Implements the traits of a role or of a message type for a stub.
#[doc(hidden)]
#[macro_export]
macro_rules! __stub {
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
