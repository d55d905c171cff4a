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

/// Implements the routes of a stub role, or the traits of a stub message type.
#[doc(hidden)]
#[macro_export]
macro_rules! __stub {
    (role $role:ty) => {
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
                $crate::private::Label { name: "", tag: 0 }
            }
        }

        impl<__L> $crate::Message<__L> for $message {
            const LABEL: $crate::private::ByMacro<$crate::private::Label> =
                $crate::private::ByMacro($crate::private::Label { name: "", tag: 0 });

            fn upcast(_: __L) -> Self {
                ::core::unreachable!()
            }

            fn downcast(self) -> ::core::result::Result<__L, Self> {
                ::core::result::Result::Err(self)
            }
        }
    };
}
