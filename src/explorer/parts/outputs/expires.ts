/** Whether an output gets another owner at some slot, without being spent. */
export function expires({
  content,
}: {
  readonly content: { readonly unlockConditions: readonly { readonly __typename: string }[] }
}): boolean {
  return content.unlockConditions.some((one) => one.__typename === 'ExpirationUnlockCondition')
}
