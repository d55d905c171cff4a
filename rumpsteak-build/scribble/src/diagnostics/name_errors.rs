//! `S02..`: names.

use rumpsteak_fsm::Role;

use super::{Code, Diagnostic, Name, Span, similar};

errors! {
    duplicate(what: &str, name: &Name, first: Span) = Duplicate at name.span,
        "the {what} `{name}` is declared twice", "declared again"
        [first => "first declared here"]
        help "rename one of the two, or remove it";

    module_clash(name: &Name, first: Span) = Duplicate at name.span,
        "two modules are visible as `{name}`", "the second one"
        [first => "the first one"]
        help "give the import another alias, or remove it";

    /// A `continue` of a recursion around the block that it is in.
    leaves_block(name: &Name, span: Span) = LeavesBlock at span,
        "`continue {name}` would leave the block that it is in", "leaves the block early"
        help "put the `continue` behind the block, or the `rec` into it";

    repeated_role(name: &Name, first: Span) = RepeatedRole at name.span,
        "`{name}` plays two roles of the protocol that is called", "again"
        [first => "it plays this one already"]
        help "name a different role in each place";

    /// `first` is the role that plays it already.
    played_twice(part: &Name, first: Span) = RepeatedRole at part.span,
        "two roles play `{part}` of the protocol that is called", "the second one"
        [first => "this role plays it already"]
        help "write `as` with a different role for each, or for none";

    unknown_role(name: &Name, protocol: &Name, known: &[&str]) = UnknownRole at name.span,
        "the protocol `{protocol}` has no role `{name}`", "no such role"
        [protocol.span => "the protocol is declared here"]
        suggest name.as_str(), known;

    unknown_protocol(name: &Name, known: &[&str]) = UnknownProtocol at name.span,
        "cannot find the protocol `{name}`", "no such protocol"
        suggest name.as_str(), known;

    unknown_recursion(name: &Name, known: &[&str]) = UnknownRecursion at name.span,
        "`continue {name}` is not inside a `rec {name}`", "no recursion of this name around it"
        help "put `rec {name} {{ … }}` around what repeats"
        suggest name.as_str(), known;

    /// `expected` is `message` or `sort`.
    argument_kind(name: &str, expected: &str, span: Span, parameter: Span) = ArgumentKind at span,
        "`{name}` is not a {expected}", "expected a {expected}"
        [parameter => "for this parameter"];

    family_size(size: &Name) = Family at size.span,
        "`{size}` is not a number of members", "expected 1 to 65,535, or a name"
        help "write `[4]`, or `[N]` for a number that is given by the program";

    /// `ring` may be meant as a ring of `of`, and has `size` members.
    family_to_family(role: &Name, ring: &str, of: &Name, size: &Name) = Family at role.span,
        "a family cannot talk to the family `{role}`", "a family"
        [size.span => "a family of `{size}` members"]
        help "let a role pass it on, or a ring without `each`: `role {ring}[{of}]`";

    other_size(family: &Name, wanted: &Name) = Family at family.span,
        "`{family}` has not always {wanted} members", "as many are needed"
        [wanted.span => "a family of {wanted} is declared here"]
        help "declare the same number twice, or a name such as `[N]` here";

    without_each(role: &Name, family: Span) = Family at role.span,
        "`{role}` has several members", "which of them?"
        [family => "the family is declared here"]
        help "write `each {role}`, or `some {role}` for one that is chosen";

    each_of_one(role: &Name, declared: Span) = Family at role.span,
        "`{role}` is one role, not a family", "a family is needed here"
        [declared => "declared as one role here"]
        help "declare `role {role}[N]`, or name a family, or remove `each` or `some`";

    /// The answer of a member of the family, which was not asked.
    unasked(family: &str, answer: Span) = Family at answer,
        "which member of `{family}` sends this?", "`some {family}` is the one that was asked last"
        help "first write a message to `some {family}`, or write `each {family}`";

    each_and_some(label: &str, each: Span, some: Span) = Family at some,
        "`{label}` is for each member, and for one", "for one member"
        [each => "for each member"]
        help "write another label in one of the two places";

    some_beside_block(asks: Span, block: Span) = Family at asks,
        "a protocol with a block cannot ask some member", "asks some member"
        [block => "the block"]
        help "write each member as a role, or a protocol without blocks";

    /// `does` is what one role can do, and a family cannot.
    of_one_role(role: &Name, does: &str, family: Span) = Family at role.span,
        "the family `{role}` cannot {does}", "a family"
        [family => "it is declared here"]
        help "let a role outside of families do it";

    ring(ring: &Name, family: &Name, place: Span) = Family at place,
        "only the family `{family}` talks to the ring `{ring}`", "not supported here"
        [ring.span => "`{ring}` connects each `{family}` to the next one"]
        help "write `from each {family} to {ring}` or `from {ring} to each {family}`";

    self_message(role: &Name, sender: Span) = SelfMessage at role.span,
        "`{role}` sends a message to itself", "the receiver is the sender"
        [sender => "the sender"]
        help "name another role on one side";

    repeated_receiver(role: &Name, first: Span) = RepeatedReceiver at role.span,
        "`{role}` receives the message twice", "again"
        [first => "it receives it already"]
        help "remove one of the two, or write two interactions";

    /// `file` is the conventional file of the module.
    missing_module(name: &Name, file: &str) = MissingModule at name.span,
        "cannot find the module `{name}`", "unknown module"
        help "the import path has no file `{file}`";

    self_import(name: &Name) = SelfImport at name.span,
        "the module `{name}` imports itself", "this is the module itself"
        help "remove the import: its own protocols are visible already";

    other_module(import: &Name, header: &Name) = OtherModule at header.span,
        "the module that is imported as `{import}` calls itself `{header}`", "expected `{import}`"
        [import.span => "imported here"]
        help "correct one of the two names; the `module` line may be left out";

    /// `file` is the name of the file without its ending, and `right` the file that fits the
    /// module's name.
    misplaced_module(header: &Name, file: &str, label: &str, right: &str) =
        OtherModule at header.span,
        "the module in `{file}.scr` calls itself `{header}`", "{label}"
        help "correct or remove the line, or move the file to `{right}`";

    misspelt_annotation(at: &Name, keyword: &str, meant: &str) = UnknownAnnotation at at.span,
        "unknown annotation `{keyword}:`", "this annotation has no meaning"
        help "did you mean `{meant}:`?";

    annotation_without_colon(at: &Name, keyword: &str, names: &str) = UnknownAnnotation at at.span,
        "`{keyword}` without `:`", "this annotation has no meaning"
        help "write `@\"{keyword}: {names}\"`";

    /// `role`, which sends the message at `sent`, receives the `known` labels.
    unknown_dependency(at: &Name, label: &str, role: &Role, sent: Span, known: &[&str]) =
        UnknownDependency at at.span,
        "unknown label in `depends: {label}`", "`{role}` never receives `{label}`"
        [sent => "`{role}` sends this"]
        suggest label, known;
}

/// "Did you mean" for an unknown name, or else a list of the known names.
pub(crate) fn suggest(name: &str, known: &[&str]) -> Option<String> {
    const MOST: usize = 6;
    if let Some(similar) = similar(name, known) {
        return Some(format!("did you mean `{similar}`?"));
    }
    let quoted = Vec::from_iter(known.iter().take(MOST + 1).map(|name| format!("`{name}`")));
    match &*quoted {
        [one] => Some(format!("there is {one}")),
        [first @ .., last] if quoted.len() <= MOST => {
            Some(format!("there are {} and {last}", first.join(", ")))
        }
        _ => None,
    }
}

pub(crate) fn unknown_message(name: &Name, known: &[&str]) -> Diagnostic {
    let message = format!("cannot find the message `{name}`");
    let label = "neither declared by `sig` nor a parameter";
    Diagnostic::new(Code::UnknownMessage, message, name.span, label).help(
        match similar(name.as_str(), known) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => {
                let simple = name.as_str().rsplit('.').next().unwrap_or_default();
                format!("write `{simple}()` for a message without a declaration")
            }
        },
    )
}

/// `what` is `role` or `argument`; `counts` are the expected and the given number of them.
pub(crate) fn argument_count(what: &str, of: &Name, counts: [usize; 2], span: Span) -> Diagnostic {
    let takes = match counts[0] {
        0 => format!("takes no {what}s"),
        1 => format!("takes one {what}"),
        expected => format!("takes {expected} {what}s"),
    };
    let given = match counts[1] {
        0 => "none is given".to_owned(),
        1 => "one is given".to_owned(),
        given => format!("{given} are given"),
    };
    let message = format!("`{of}` {takes}, and {given}");
    Diagnostic::new(Code::ArgumentCount, message, span, given).with(of.span, takes)
}
