//! Items of more than one text: how their vectors become one.
//!
//! Of a premise u and a hypothesis v, as vectors of width d:
//!
//! | pairing | vector | width |
//! |---|---|---|
//! | [`Compared`](Pairing::Compared) | [u, v, \|u − v\|, u ∘ v] | 4 d |
//! | [`Concatenated`](Pairing::Concatenated) | [u, v] | 2 d |
//! | [`Joint`](Pairing::Joint) | of one text, in which both stand | d |
//!
//! The first is for sentence encoders, which have never seen the two together: the classifier behind
//! it is told where they differ (Conneau et al. 2017, *Supervised learning of universal sentence
//! representations from natural language inference data*). The last is for models that read
//! anything.

use crate::{EmbedError, Encoder, Progress};

/// How the texts of an item become one vector. An item of one text is its vector in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pairing {
    /// Two texts: both vectors, their absolute difference, and their product, number by number.
    #[default]
    Compared,
    /// The vectors one after the other.
    Concatenated,
    /// The vector of one text, made of the texts with this between them.
    Joint {
        /// What stands between two texts.
        between: String,
    },
}

impl Pairing {
    /// One text, with a line break between the parts.
    pub fn joint() -> Self {
        Self::Joint { between: "\n".to_owned() }
    }

    /// The width of an item's vector, of so many texts whose vectors have the width `single`.
    pub fn width(&self, texts: usize, single: usize) -> usize {
        match self {
            Self::Joint { .. } => single,
            Self::Compared if texts == 2 => 4 * single,
            _ => texts * single,
        }
    }

    /// The vectors of items, row by row. Every item has as many texts as the first; only two can be
    /// compared. Progress is told of texts, of which there are [`asked`](Self::asked).
    pub fn encode<T: AsRef<[String]>>(
        &self,
        encoder: &dyn Encoder,
        items: &[T],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        let Some(each) = items.first().map(|item| item.as_ref().len()) else {
            return Ok(Vec::new());
        };
        self.check(each, items)?;
        if let Self::Joint { between } = self {
            let texts: Vec<String> = items.iter().map(|item| item.as_ref().join(between)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            return encoder.texts(&texts, progress);
        }
        let texts: Vec<&str> =
            items.iter().flat_map(|item| item.as_ref()).map(String::as_str).collect();
        let vectors = encoder.texts(&texts, progress)?;
        if *self == Self::Concatenated || each == 1 {
            return Ok(vectors);
        }
        let single = vectors.len() / texts.len();
        let mut rows = Vec::with_capacity(2 * vectors.len());
        for pair in vectors.chunks_exact(2 * single.max(1)) {
            let (u, v) = pair.split_at(single);
            rows.extend_from_slice(pair);
            rows.extend(u.iter().zip(v).map(|(u, v)| (u - v).abs()));
            rows.extend(u.iter().zip(v).map(|(u, v)| u * v));
        }
        Ok(rows)
    }

    /// How many texts an encoder is asked for, of so many items with so many texts each.
    pub fn asked(&self, items: usize, texts: usize) -> usize {
        match self {
            Self::Joint { .. } => items,
            _ => items * texts,
        }
    }

    fn check<T: AsRef<[String]>>(&self, each: usize, items: &[T]) -> Result<(), EmbedError> {
        let other = items.iter().position(|item| item.as_ref().len() != each);
        if let Some(at) = other {
            let found = items[at].as_ref().len();
            let problem = format!("item {at} has {found} texts, the first has {each}");
            return Err(EmbedError::Input(problem));
        }
        match (self, each) {
            (_, 0) => Err(EmbedError::Input("the items have no texts".to_owned())),
            (Self::Compared, 3..) => Err(EmbedError::Input(format!(
                "the items have {each} texts, and only two can be compared; use \"concatenated\" or \
                 \"joint\""
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Kind};

    /// A text's length, and its number of `a`.
    struct Counter(Identity);

    impl Encoder for Counter {
        fn identity(&self) -> &Identity {
            &self.0
        }

        fn kind(&self) -> Kind {
            Kind::Text
        }

        fn width(&self) -> Option<usize> {
            Some(2)
        }

        fn texts(&self, texts: &[&str], told: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
            told(texts.len());
            let of = |text: &&str| [text.len() as f32, text.matches('a').count() as f32];
            Ok(texts.iter().flat_map(of).collect())
        }
    }

    fn encode(pairing: &Pairing, items: &[&[&str]]) -> Result<Vec<f32>, String> {
        let counter = Counter(Identity { name: "counter".into(), digest: "0".repeat(64) });
        let items: Vec<Vec<String>> =
            items.iter().map(|item| item.iter().map(ToString::to_string).collect()).collect();
        let mut told = 0;
        let vectors = pairing
            .encode(&counter, &items, &mut |n| {
                told += n;
                true
            })
            .map_err(|error| error.to_string())?;
        let each = items.first().map_or(0, Vec::len);
        assert_eq!(told, pairing.asked(items.len(), each));
        assert_eq!(vectors.len(), items.len() * pairing.width(each, 2));
        Ok(vectors)
    }

    #[test]
    fn pairs_are_compared_by_default() {
        let vectors = encode(&Pairing::default(), &[&["abcd", "aa"], &["a", "xyz"]]).unwrap();
        let expected = [4., 1., 2., 2., 2., 1., 8., 2., 1., 1., 3., 0., 2., 1., 3., 0.];
        assert_eq!(vectors, expected);
    }

    #[test]
    fn or_stand_side_by_side_or_in_one_text() {
        let items: [&[&str]; 2] = [&["abcd", "aa"], &["a", "xyz"]];
        let vectors = encode(&Pairing::Concatenated, &items).unwrap();
        assert_eq!(vectors, [4., 1., 2., 2., 1., 1., 3., 0.]);
        assert_eq!(encode(&Pairing::joint(), &items).unwrap(), [7., 3., 5., 1.]);
        let wide = Pairing::Joint { between: " aha ".into() };
        assert_eq!(encode(&wide, &items).unwrap(), [11., 5., 9., 3.]);
    }

    #[test]
    fn one_text_is_its_vector() {
        for pairing in [Pairing::Compared, Pairing::Concatenated, Pairing::joint()] {
            assert_eq!(encode(&pairing, &[&["abc"], &["x"]]).unwrap(), [3., 1., 1., 0.]);
            assert!(encode(&pairing, &[]).unwrap().is_empty());
        }
    }

    #[test]
    fn what_cannot_be_paired_is_an_error() {
        let three: [&[&str]; 1] = [&["a", "b", "c"]];
        assert!(encode(&Pairing::Compared, &three).unwrap_err().contains("only two"));
        assert_eq!(encode(&Pairing::Concatenated, &three).unwrap().len(), 6);
        let error = encode(&Pairing::Compared, &[&["a", "b"], &["a"]]).unwrap_err();
        assert_eq!(error, "item 1 has 1 texts, the first has 2");
        assert!(encode(&Pairing::joint(), &[&[]]).unwrap_err().contains("no texts"));
    }
}
