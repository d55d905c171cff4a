//! "Did you mean": similar names.

/// Longer names are not compared.
const LONGEST: usize = 64;

/// Finds the known name that is most similar to `name`: equal after the last dot, or with at most a
/// third of the letters changed. Ignores case and `_`. The first wins among equals. Costs
/// O(known · length²).
///
/// ```
/// use rumpsteak_scribble::similar;
///
/// assert_eq!(similar("sel_ler", &["Buyer", "Seller"]), Some("Seller"));
/// assert_eq!(similar("Shipper", &["Buyer", "Seller"]), None);
/// ```
pub fn similar<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    let others = known.iter().filter(|other| other.len() <= LONGEST && **other != name);
    let near = others.filter_map(|&other| {
        let distance = if fold(last(other)) == fold(last(name)) {
            usize::from(fold(other) != fold(name))
        } else {
            strsim::osa_distance(&fold(name), &fold(other))
        };
        // Every one-letter name is one change away from every other: only the case may differ.
        let is_near =
            distance == 0 || last(other) == last(name) || (distance <= limit && length > 2);
        is_near.then_some((distance, other))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, other)| other)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn fold(name: &str) -> String {
    name.chars().filter(|&letter| letter != '_').flat_map(char::to_lowercase).collect()
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
