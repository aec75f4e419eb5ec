/**
 * Whether a value is of a declared kind, such as `is(Expiration, condition)`: one comparison of codes. It narrows the type
 * of the value in both branches.
 */
export function is<D extends { readonly code: number }, V extends { readonly type: number }>(
  declaration: D,
  value: V | undefined,
): value is KindOf<V, D> {
  return value?.type === declaration.code
}

/** The member of a family that a declaration declares. */
export type KindOf<V, D extends { readonly code: number }> = Extract<
  V,
  { readonly type: D['code'] }
>
