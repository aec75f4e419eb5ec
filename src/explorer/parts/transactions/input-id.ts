/** Computes the id of the output that an input of a transaction refers to. */

export function outputIdOf(input: {
  readonly transactionId: string
  readonly transactionOutputIndex: number
}): string {
  const { transactionId, transactionOutputIndex: index } = input
  const digits = (byte: number) => byte.toString(16).padStart(2, '0')
  return transactionId + digits(index % 256) + digits(index >> 8)
}
