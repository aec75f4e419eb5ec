import {
  type Attributes,
  type Context,
  context,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/**
 * Trace spans of the gateway. The gateway uses only the API of OpenTelemetry. The operator provides the SDK (docs/tracing.md), and
 * without an SDK no span is created. The API is global to the process, so spans are created where the work is, and no tracer is passed.
 */

/** The properties of a new span. */
export interface SpanOptions {
  /** Kind of the span: `server` for a request, `client` for a call of another program, `internal` by default. */
  readonly kind?: keyof typeof kinds
  readonly attributes?: Attributes
  /** Creates the span only within a trace. Otherwise each poll that the program makes every second would be a trace. */
  readonly isInner?: boolean
  /** Parent of the span, by default the active span. */
  readonly parent?: Context | undefined
}

/** A span that has started, and the context for its child spans. */
export interface StartedSpan {
  readonly span: Span
  readonly context: Context
}

/** Header names and values, or members of `extensions`. */
export type TraceCarrier = Readonly<Record<string, unknown>>

/** Runs work in a span. A failure is recorded and thrown again. */
export function inSpan<T>(name: string, work: () => Promise<T>, options?: SpanOptions): Promise<T> {
  const started = startSpan(name, options)
  return started === undefined ? work() : settled(started, work)
}

async function settled<T>(
  { span, context: within }: StartedSpan,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await context.with(within, work)
  } catch (failure) {
    span.recordException(failure instanceof Error ? failure : String(failure))
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw failure
  } finally {
    span.end()
  }
}

/** Begins a span, which the caller ends. Returns `undefined` without an SDK. */
export function startSpan(
  name: string,
  { kind = 'internal', attributes = {}, isInner = false, parent }: SpanOptions = {},
): StartedSpan | undefined {
  const tracer = tracerNow()
  if (tracer === undefined) return undefined
  const outside = parent ?? context.active()
  if (isInner && trace.getSpan(outside) === undefined) return undefined
  const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, outside)
  return { span, context: trace.setSpan(outside, span) }
}

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER }

/** Runs work in the context of a span. */
export function within<T>(started: StartedSpan | undefined, work: () => T): T {
  return started === undefined ? work() : context.with(started.context, work)
}

/** Returns the active trace, so that it can be continued later; `undefined` without an SDK. */
export function traceNow(): Context | undefined {
  return isTracing() ? context.active() : undefined
}

/** Returns the trace of a client or another program from the headers or extensions that it sent (W3C Trace Context). */
export function traceOf(carrier: TraceCarrier): Context | undefined {
  return isTracing() ? propagation.extract(context.active(), carrier) : undefined
}

/** Returns the headers that carry a trace to another program: `traceparent` and, if set, `tracestate`. Empty without an SDK. */
export function carriedTrace(of: Context | undefined = traceNow()): Record<string, string> {
  const carrier: Record<string, string> = {}
  if (of !== undefined) propagation.inject(of, carrier)
  return carrier
}

/** Whether an SDK is registered. */
function isTracing(): boolean {
  return tracerNow() !== undefined
}

/** Returns the current tracer. The lookup costs some nanoseconds, and an SDK may be registered after this module is loaded. */
function tracerNow(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  // An SDK with its own copy of the API registers a provider of that copy.
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(tracerName)
    : provider.getTracer(tracerName)
}

const tracerName = 'ledger-gateway'
