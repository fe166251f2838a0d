//! Functions compiled for the vector registers of the machine that the program runs on.
//!
//! A loop becomes wide vector code only inside a function that is compiled for wide registers. A
//! closure handed to such a function is one only if the compiler feels like inlining it, so these
//! loops are functions of their own: `vectorized!` makes each a task for `pulp`, whose body is
//! always inlined into code for AVX-512, AVX2, NEON or whatever there is.

/// Defines functions over a [`Real`](crate::scalar::Real) `F`; borrowed arguments name the lifetime
/// `'a`. Each gets the machine's instruction set as an additional first argument.
macro_rules! vectorized {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(super) fn $name<'a, F: crate::scalar::Real>(arch: pulp::Arch, $($arg: $type),*) {
            struct Task<'a, F: crate::scalar::Real> {
                $($arg: $type,)*
                of: std::marker::PhantomData<&'a F>,
            }
            impl<'a, F: crate::scalar::Real> pulp::WithSimd for Task<'a, F> {
                type Output = ();
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) {
                    let Self { $($arg,)* .. } = self;
                    $body
                }
            }
            arch.dispatch(Task { $($arg,)* of: std::marker::PhantomData::<&'a F> });
        }
    )*};
}

pub(super) use vectorized;
