//! Fingerprints of the types in messages. Without them, a codec that writes no names could read the
//! fields of one type as the fields of another.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_reflection::{ContainerFormat, Format, FormatHolder, Samples, Tracer, TracerConfig};

/// The fingerprints of the types in messages, by name, which depend on the names, types and order
/// of the fields or variants. The labels, which are the variants of the message type, are compared
/// separately. If a label and a type in a payload have the same name, returns it as an error.
///
/// The types are found by deserialising a message from invented values. A type with its own
/// `Deserialize` that refuses them ends the search: it and the types after it have no fingerprint.
pub(crate) fn of<M: DeserializeOwned>() -> Types {
    let mut tracer = Tracer::new(TracerConfig::default());
    // If this fails, the registry has the types that were found before.
    let _ = tracer.trace_type::<M>(&Samples::new());
    types(tracer, name::<M>())
}

pub(crate) type Types = Result<BTreeMap<String, u64>, String>;

/// The types that were found, except the type of the messages.
fn types(tracer: Tracer, own: &str) -> Types {
    let found = tracer.registry_unchecked();
    let messages = found.get(own).filter(|it| matches!(it, ContainerFormat::Enum(_)));
    let labels = messages.map_or_else(Vec::new, named);
    let payloads = || found.iter().filter(|(name, _)| messages.is_none() || *name != own);
    let carried: Vec<&String> = payloads().flat_map(|(_, format)| named(format)).collect();
    if let Some(ambiguous) = labels.iter().find(|label| carried.contains(label)) {
        return Err((*ambiguous).clone());
    }
    let fingerprints =
        payloads().map(|(name, format)| (name.clone(), fingerprint(format!("{format:?}").bytes())));
    Ok(fingerprints.collect())
}

/// The names of the types in the fields of a type.
fn named(format: &ContainerFormat) -> Vec<&String> {
    let mut names = Vec::new();
    // This fails at an unknown field, after the names before it.
    let _ = format.visit(&mut |part| {
        if let Format::TypeName(name) = part {
            names.push(name);
        }
        Ok(())
    });
    names
}

/// The name of a type, without its module.
pub(crate) fn name<M>() -> &'static str {
    std::any::type_name::<M>().rsplit("::").next().unwrap_or_default()
}

/// The hash of bytes: FNV-1a.
pub(crate) fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::of;

    /// Messages that carry a `Job`, which is declared as it is written here.
    macro_rules! messages {
        ($module:ident: $job:item) => {
            mod $module {
                use super::Deserialize;

                #[derive(Deserialize)]
                #[expect(dead_code, reason = "only its type matters")]
                pub(super) enum Label {
                    Run(Run),
                    Stop,
                }

                #[derive(Deserialize)]
                #[expect(dead_code, reason = "only its type matters")]
                pub(super) struct Run(Vec<Job>);

                #[derive(Deserialize)]
                #[expect(dead_code, reason = "only its type matters")]
                $job
            }
        };
    }

    messages!(one: pub(super) struct Job { from: u32, to: u32 });
    messages!(same: struct Job { from: u32, to: u32 });
    messages!(swapped: struct Job { to: u32, from: u32 });
    messages!(wider: struct Job { from: u32, to: u64 });
    messages!(renamed: struct Job { from: u32, until: u32 });
    messages!(variants: enum Job { From(u32), To(u32) });

    #[test]
    fn a_type_is_known_by_its_fields_and_their_order() {
        let one = of::<one::Label>().unwrap();
        assert_eq!(one.keys().collect::<Vec<_>>(), ["Job", "Run"]);
        assert_eq!(one, of::<same::Label>().unwrap());
        let others = [
            of::<swapped::Label>(),
            of::<wider::Label>(),
            of::<renamed::Label>(),
            of::<variants::Label>(),
        ];
        for other in others {
            let other = other.unwrap();
            assert_ne!(one["Job"], other["Job"]);
            assert_eq!(one["Run"], other["Run"]);
        }
    }
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its type matters")]
    enum Messages {
        Stop(()),
        Job(Job),
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its type matters")]
    struct Job(Vec<one::Job>);

    #[test]
    fn a_label_and_a_type_of_its_payload_need_two_names() {
        assert_eq!(of::<Messages>(), Err("Job".to_owned()));
    }
}
