//! What stands in for an item with an error: it fits wherever the item would, so that rustc does
//! not follow up that error with others. Macros emit it beside a `compile_error!`, and only there:
//! nothing of it ever runs.

/// The implementations of a role, of a message type, or of one label of a role's message type.
#[doc(hidden)]
#[macro_export]
macro_rules! __stub {
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
            fn for_each_mark<'a>(
                &'a self,
                _: impl ::core::ops::FnMut(&'static str, &'a $crate::transport::Mark),
            ) {
            }

            fn close(&mut self) {}
        }

        impl<P: $crate::transport::Route<$role>> $crate::transport::Route<P> for $role {
            type Link = P::Link;

            const CAPACITY: $crate::private::ByMacro<$crate::channel::Capacity> =
                $crate::private::ByMacro($crate::channel::Capacity::Growable);

            fn route(&mut self) -> &mut P::Link {
                ::core::unreachable!()
            }
        }

        impl<S> $crate::private::wiring::Wire<S> for $role {
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

        $crate::private::stub!(@label [L] L, $message);
    };
    (label $label:ty, $role:ty) => {
        $crate::private::stub!(@label [] $label, <$role as $crate::Role>::Message);
    };
    (@label [$($parameter:ident)?] $label:ty, $message:ty) => {
        impl$(<$parameter>)? $crate::Message<$label> for $message {
            const LABEL: $crate::private::ByMacro<$crate::private::Label> =
                $crate::private::ByMacro($crate::private::Label::STUB);

            fn upcast(_: $label) -> Self {
                ::core::unreachable!()
            }

            fn downcast(self) -> ::core::result::Result<$label, Self> {
                ::core::result::Result::Err(self)
            }
        }
    };
}
