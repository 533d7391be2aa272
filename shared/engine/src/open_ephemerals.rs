//! Ephemeral resources that are open: they are renewed in time until they are closed.

use crate::clock::sleep_until;
use crate::environment::Environment;
use crate::hooks::EphemeralStep;
use crate::provider_diagnostics::CallFailure;
use jiff::Timestamp;
use providers::{
    EphemeralHandle, OpenEphemeralResponse, Provider, ProviderDiagnostic, RenewEphemeralResponse,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use values::address::{AbsoluteResource, ConfigResource, ResourceInstance};

/// All that is open at the providers of one operation.
#[derive(Default)]
pub(crate) struct OpenEphemerals {
    open: Mutex<BTreeMap<ConfigResource, BTreeMap<ResourceInstance, Opened>>>,
    expired: Arc<Mutex<BTreeSet<ResourceInstance>>>,
}

/// One open object.
struct Opened {
    provider: Arc<dyn Provider>,
    keeping: Keeping,
}

/// How an object is kept until it is closed.
enum Keeping {
    /// It lasts as it is.
    Still(Option<Arc<[u8]>>),
    /// A task renews it, until it is told to stop.
    Renewed { stop: oneshot::Sender<()>, task: JoinHandle<Kept> },
}

/// What renewing came to.
#[derive(Default)]
struct Kept {
    /// The provider's own bytes, from the last open or renew.
    private: Option<Arc<[u8]>>,
    warnings: Vec<ProviderDiagnostic>,
    failure: Option<CallFailure>,
}

/// What became of an object that is to be closed.
pub(crate) struct Closing {
    pub(crate) address: ResourceInstance,
    provider: Arc<dyn Provider>,
    private: Option<Arc<[u8]>>,
    /// What renewing it gave rise to.
    pub(crate) warnings: Vec<ProviderDiagnostic>,
    /// Why it could not be renewed, if that failed.
    pub(crate) failure: Option<CallFailure>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenEphemerals {
    /// Keeps an object that a provider has opened, until it is closed.
    pub(crate) fn keep(
        &self,
        address: &ResourceInstance,
        provider: Arc<dyn Provider>,
        answer: &OpenEphemeralResponse,
        environment: &Environment,
    ) {
        let private = answer.private.clone();
        let keeping = match answer.renew_at {
            None => Keeping::Still(private),
            Some(at) => {
                let (stop, stopped) = oneshot::channel();
                let renewal = Renewal {
                    address: address.clone(),
                    provider: provider.clone(),
                    environment: environment.clone(),
                    expired: self.expired.clone(),
                };
                Keeping::Renewed { stop, task: tokio::spawn(renewal.go_on(private, at, stopped)) }
            }
        };
        let opened = Opened { provider, keeping };
        lock(&self.open).entry(address.config()).or_default().insert(address.clone(), opened);
    }

    /// Whether anything is open.
    pub(crate) fn are_open(&self) -> bool {
        !lock(&self.open).is_empty()
    }

    /// An instance of a resource whose renewal has failed: its object is of no use any more.
    pub(crate) fn expired(&self, resource: &AbsoluteResource) -> Option<ResourceInstance> {
        lock(&self.expired).iter().find(|address| address.containing() == *resource).cloned()
    }

    /// Renews the instances of a resource no more, and hands them out to be closed.
    pub(crate) async fn take(&self, resource: &ConfigResource) -> Vec<Closing> {
        let taken = lock(&self.open).remove(resource).unwrap_or_default();
        closings(taken).await
    }

    /// Renews nothing any more, and hands out all that is open.
    pub(crate) async fn take_all(&self) -> Vec<Closing> {
        let taken = std::mem::take(&mut *lock(&self.open));
        closings(taken.into_values().flatten()).await
    }
}

/// What nobody has closed is not renewed without end.
impl Drop for OpenEphemerals {
    fn drop(&mut self) {
        for opened in lock(&self.open).values().flat_map(BTreeMap::values) {
            if let Keeping::Renewed { task, .. } = &opened.keeping {
                task.abort();
            }
        }
    }
}

async fn closings(opened: impl IntoIterator<Item = (ResourceInstance, Opened)>) -> Vec<Closing> {
    let mut closings = Vec::new();
    for (address, Opened { provider, keeping }) in opened {
        let Kept { private, warnings, failure } = keeping.end().await;
        closings.push(Closing { address, provider, private, warnings, failure });
    }
    closings
}

impl Keeping {
    async fn end(self) -> Kept {
        match self {
            Keeping::Still(private) => Kept { private, ..Kept::default() },
            Keeping::Renewed { stop, task } => {
                // A task that has ended listens no more.
                let _ = stop.send(());
                match task.await {
                    Ok(kept) => kept,
                    Err(e) => match e.try_into_panic() {
                        Ok(panic) => std::panic::resume_unwind(panic),
                        Err(_) => Kept::default(),
                    },
                }
            }
        }
    }
}

impl Closing {
    /// Has the provider close it; what it says.
    pub(crate) async fn close(&self) -> Result<Vec<ProviderDiagnostic>, CallFailure> {
        let ty = self.address.resource.ty.clone();
        let handle = EphemeralHandle { ty, private: self.private.clone() };
        let answer = self.provider.close_ephemeral(handle).await.map_err(CallFailure::Call)?;
        let ((), warnings) = answer.into_result().map_err(CallFailure::Refused)?;
        Ok(warnings)
    }
}

/// The renewals of one object.
struct Renewal {
    address: ResourceInstance,
    provider: Arc<dyn Provider>,
    environment: Environment,
    expired: Arc<Mutex<BTreeSet<ResourceInstance>>>,
}

impl Renewal {
    async fn go_on(
        self,
        private: Option<Arc<[u8]>>,
        first: Timestamp,
        mut stopped: oneshot::Receiver<()>,
    ) -> Kept {
        let mut kept = Kept { private, ..Kept::default() };
        let mut next = Some(first);
        while let Some(at) = next {
            tokio::select! {
                biased;
                _ = &mut stopped => break,
                () = sleep_until(&*self.environment.clock, at) => {}
            }
            let step = EphemeralStep::Renew;
            self.environment.hook(|h| h.pre_ephemeral(&self.address, step));
            // Once asked for, a renewal is waited for: an object is not closed meanwhile.
            let renewed = self.renew(kept.private.clone()).await;
            let said = renewed.as_ref().err().map(CallFailure::summary);
            self.environment.hook(|h| h.post_ephemeral(&self.address, step, said.as_deref()));
            match renewed {
                Ok((answer, warnings)) => {
                    kept.private = answer.private;
                    kept.warnings.extend(warnings);
                    next = answer.renew_at;
                }
                Err(failure) => {
                    lock(&self.expired).insert(self.address.clone());
                    kept.failure = Some(failure);
                    next = None;
                }
            }
        }
        kept
    }

    async fn renew(
        &self,
        private: Option<Arc<[u8]>>,
    ) -> Result<(RenewEphemeralResponse, Vec<ProviderDiagnostic>), CallFailure> {
        let handle = EphemeralHandle { ty: self.address.resource.ty.clone(), private };
        let answer = self.provider.renew_ephemeral(handle).await.map_err(CallFailure::Call)?;
        answer.into_result().map_err(CallFailure::Refused)
    }
}
