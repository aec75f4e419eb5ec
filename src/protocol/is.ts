/**
 * Whether a value is of a declared kind, for example `is(Expiration, condition)`; one comparison of type codes. Narrows the
 * type of the value in both branches.
 */
export function is<D extends { readonly code: number }, V extends { readonly type: number }>(
  declaration: D,
  value: V | undefined,
): value is KindOf<V, D> {
  return value?.type === declaration.code
}

/** The variant of a family with the code of a declaration. */
export type KindOf<V, D extends { readonly code: number }> = Extract<
  V,
  { readonly type: D['code'] }
>
