//! "Did you mean": names that look like another.

/// The known name most like `name`, if one is near enough to be meant: equal behind the last dot, or at most a third of
/// the letters apart, where neither case nor `_` counts. The first one wins among equals. Costs O(known · length²).
///
/// ```
/// use rumpsteak_scribble::similar;
///
/// assert_eq!(similar("sel_ler", &["Buyer", "Seller"]), Some("Seller"));
/// assert_eq!(similar("Shipper", &["Buyer", "Seller"]), None);
/// ```
#[must_use]
pub fn similar<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // A name of a thousand letters is not a slip of the finger.
    if name.len() > 64 {
        return None;
    }
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for &candidate in known {
        if candidate.len() > 64 || candidate == name {
            continue;
        }
        let distance = if fold(last(candidate)) == fold(last(name)) {
            usize::from(fold(candidate) != fold(name))
        } else {
            distance(&fold(name), &fold(candidate))
        };
        // For one letter every other letter is one change away: only its case may differ.
        let near =
            distance == 0 || last(candidate) == last(name) || (distance <= limit && length > 2);
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn fold(name: &str) -> String {
    name.chars()
        .filter(|&letter| letter != '_')
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters must be added, removed, changed or swapped with their neighbour (optimal string
/// alignment): row by row of the usual table, the last three rows kept.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<_> = a.chars().collect();
    let b: Vec<_> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i);
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_one_slip_away_are_similar() {
        let known = ["Buyer", "Seller", "Ready"];
        let similar = |name| similar(name, &known);
        assert_eq!(similar("Buyr"), Some("Buyer"));
        assert_eq!(similar("sel_ler"), Some("Seller"));
        assert_eq!(similar("Raedy"), Some("Ready"));
        assert_eq!(similar("Shipper"), None);
        assert_eq!(similar("x"), None);
        assert_eq!(similar("shop.Base.Buyer"), Some("Buyer"));
    }
}
