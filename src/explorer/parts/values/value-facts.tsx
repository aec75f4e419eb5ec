import { Fact } from '../facts.tsx'
import { Amount, Count, Tokens } from './amount.tsx'
import { Id, type IdOf } from './id.tsx'
import { Time } from './time.tsx'

/** Facts of one kind of value; not rendered without a value. */

type Value = string | null | undefined

interface IdFactProps {
  readonly name: string
  readonly of: IdOf
  readonly id: Value
  readonly isWhole?: boolean
}

export function IdFact({ name, of, id, isWhole = false }: IdFactProps) {
  return <Fact name={name}>{id != null && <Id of={of} id={id} isWhole={isWhole} />}</Fact>
}

export function AmountFact({ name, value }: { readonly name: string; readonly value: Value }) {
  return <Fact name={name}>{value != null && <Amount value={value} />}</Fact>
}

export function TimeFact({ name, at }: { readonly name: string; readonly at: Value }) {
  return <Fact name={name}>{at != null && <Time at={at} />}</Fact>
}

export function CountFact({
  name,
  value,
}: {
  readonly name: string
  readonly value: string | number | null
}) {
  return (
    <Fact name={name}>
      <Count value={value} />
    </Fact>
  )
}

/** A number of native tokens. */
export function TokensFact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <Fact name={name}>
      <Tokens value={value} />
    </Fact>
  )
}
