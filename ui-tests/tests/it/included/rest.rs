pub type Rest<'s, R> = rumpsteak::states::End<'s, R>;
