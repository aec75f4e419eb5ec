import { texts } from '../../texts.ts'
import { AsCsv, type Column } from '../tables/table.tsx'
import { Amount } from '../values/amount.tsx'
import { Id } from '../values/id.tsx'

/** The inputs and outputs of a transaction as a CSV file. */

interface Party {
  readonly outputId: string
  readonly kind: string
  readonly amount: string
  readonly owner: { readonly bech32: string }
}

interface Output extends Party {
  readonly spendingTransaction: { readonly transactionId: string } | null
}

interface FlowCsvProps {
  readonly inputs: readonly Party[]
  readonly outputs: readonly Output[]
}

interface Row extends Party {
  readonly side: string
  readonly spentBy: string | undefined
}

const words = texts.flow.file

export function FlowCsv({ inputs, outputs }: FlowCsvProps) {
  const rows: Row[] = [
    ...inputs.map((one) => ({ ...one, side: words.input, spentBy: undefined })),
    ...outputs.map((one) => ({
      ...one,
      side: words.output,
      spentBy: one.spendingTransaction?.transactionId,
    })),
  ]
  return <AsCsv caption={words.caption} columns={columns} rows={rows} />
}

const columns: readonly Column<Row>[] = [
  { head: words.side, cell: ({ side }) => side },
  { head: words.id, cell: ({ outputId }) => <Id of="output" id={outputId} /> },
  { head: words.kind, cell: ({ kind }) => texts.kind[kind] ?? kind },
  { head: words.owner, cell: ({ owner }) => <Id of="address" id={owner.bech32} /> },
  { head: words.amount, cell: ({ amount }) => <Amount value={amount} isBare /> },
  {
    head: words.spentBy,
    cell: ({ spentBy }) => (spentBy === undefined ? '–' : <Id of="transaction" id={spentBy} />),
  },
]
