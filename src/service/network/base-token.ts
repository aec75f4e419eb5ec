/** The names and the unit of the base token, which are not among the protocol parameters. */

export const baseToken = {
  name: 'Shimmer',
  tickerSymbol: 'SMR',
  unit: 'SMR',
  subunit: 'glow',
  decimals: 6,
} as const
