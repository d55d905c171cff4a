//! `completions` and `man`.

use crate::common::{Folder, begins, says};

#[test]
fn every_shell_has_a_script_with_all_verbs() {
    let folder = Folder::new("completions");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = folder.call(&format!("completions {shell}")).exits(0).says("");
        for word in ["cargo-rumpsteak", "subtype", "--import-path", "completions"] {
            // Shells write the dashes of an option in their own way.
            says(&run.stdout, word.trim_start_matches('-'));
        }
    }
    // Bash finds the completions of a verb by these names.
    let bash = folder.call("completions bash").stdout;
    assert_eq!(bash.matches("cargo__rumpsteak__subcmd__check").count(), 2);
    folder.call("completions cmd").exits(2).prints("");
}

#[test]
fn the_manual_has_a_page_for_each_verb() {
    let folder = Folder::new("man");
    let page = folder.call("man").exits(0).says("").stdout;
    says(&page, ".TH cargo-rumpsteak 1");
    says(&page, "Exit status: 0 it holds");
    let page = folder.call("man subtype").exits(0).says("").stdout;
    says(&page, ".TH cargo-rumpsteak-subtype 1");
    says(&page, "fair");
    let run = folder.call("man subtpe").exits(2).prints("");
    begins(&run.stderr, "error: there is no verb `subtpe`\nhelp: did you mean `subtype`?\n");
}
